/** Claude, through Anthropic's SDK and its Messages API. Source: https://platform.claude.com/docs/en/api/messages */
import type { Anthropic } from '@anthropic-ai/sdk';
import type {
  AskOptions,
  Availability,
  HostedAgent,
  ModelAnswer,
  ModelRequest,
  Price,
  Usage,
} from '../../domain/orchestration/ports.ts';
import { modelAnswer } from '../models/answer.ts';
import { fetchOnce, received } from '../models/exchange.ts';
import { concluded, failure, type Progress } from '../models/failure.ts';
import { availabilityOf, type ModelSettings } from '../models/settings.ts';
import { type Counts, event } from './events.ts';
import { failureOf } from './failure.ts';

const PARAMETERS = {
  apiKey: 'ANTHROPIC_API_KEY',
  baseUrl: 'ANTHROPIC_BASE_URL',
  model: 'CLAUDE_MODEL',
  inputPrice: 'CLAUDE_INPUT_PRICE',
  outputPrice: 'CLAUDE_OUTPUT_PRICE',
};

/** Cut at a limit: the caller's, or the model's own. */
const CUT: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded']);

export class Claude implements HostedAgent {
  readonly name = 'claude';
  readonly model: string;
  readonly price: Price;
  private readonly settings: ModelSettings;
  private client: Promise<Anthropic> | undefined;

  constructor(settings: ModelSettings) {
    this.settings = settings;
    this.model = settings.model;
    this.price = settings.price;
  }

  availability(): Availability {
    return availabilityOf(this.name, this.settings, PARAMETERS);
  }

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const progress: Progress = { agent: this.name, answered: false, understood: false };
    this.client ??= connect(this.settings);
    const { messages } = await this.client;
    const items = received({
      signal,
      progress,
      open: (closing) => messages.create(this.parameters(request), { signal: closing }),
      failureOf: (error) => failureOf(error, progress),
    });
    const message = { text: '', model: this.model, stop: '', ended: false };
    for await (const item of items) {
      const { success, data } = event.safeParse(item);
      if (!success) throw failure('malformed', progress);
      progress.understood = true;
      if (data.type === 'message_start') {
        message.model = data.message.model;
        progress.usage = usageOf(data.message.usage, progress.usage);
      } else if (data.type === 'content_block_delta' && data.delta.text !== undefined) {
        message.text += data.delta.text;
        onText?.(data.delta.text);
      } else if (data.type === 'message_delta') {
        message.stop = data.delta.stop_reason ?? '';
        progress.usage = usageOf(data.usage, progress.usage);
      } else if (data.type === 'message_stop') {
        message.ended = true;
      }
    }
    return answerOf(message, progress);
  }

  private parameters({ system, prompt, maxOutputTokens }: ModelRequest) {
    return {
      model: this.model,
      max_tokens: maxOutputTokens,
      ...(system !== undefined && { system }),
      messages: [{ role: 'user' as const, content: prompt }],
      stream: true as const,
    };
  }
}

async function connect({ apiKey = '', baseUrl }: ModelSettings): Promise<Anthropic> {
  const { Anthropic: Client } = await import('@anthropic-ai/sdk');
  return new Client({
    apiKey,
    authToken: null, // or it would be taken from the environment
    baseURL: baseUrl,
    maxRetries: 0,
    fetch: fetchOnce,
    logLevel: 'off', // its log quotes answers
    openTelemetry: false,
  });
}

/** Counts are cumulative, and later events leave out what has not changed. */
function usageOf(counts: Counts, before: Usage = { inputTokens: 0, outputTokens: 0 }): Usage {
  const input =
    (counts.input_tokens ?? 0) +
    (counts.cache_creation_input_tokens ?? 0) +
    (counts.cache_read_input_tokens ?? 0);
  return {
    inputTokens: Math.max(input, before.inputTokens),
    outputTokens: counts.output_tokens ?? before.outputTokens,
  };
}

interface Message {
  readonly text: string;
  readonly model: string;
  readonly stop: string;
  readonly ended: boolean;
}

function answerOf({ text, model, stop, ended }: Message, progress: Progress): ModelAnswer {
  if (!progress.understood) throw failure('malformed', progress);
  if (!ended) throw failure('truncated', progress);
  if (stop === 'refusal') throw concluded('refused', progress);
  return modelAnswer({ text, model, complete: !CUT.has(stop) }, progress);
}
