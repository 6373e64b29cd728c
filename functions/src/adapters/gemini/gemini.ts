/** Gemini, through Google's SDK and the Gemini API. Source: https://ai.google.dev/api/generate-content */
import type { GoogleGenAI } from '@google/genai';
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
import { type Chunk, chunk, textOf } from './chunks.ts';
import { failureOf } from './failure.ts';

const PARAMETERS = {
  apiKey: 'GEMINI_API_KEY',
  baseUrl: 'GEMINI_BASE_URL',
  model: 'GEMINI_MODEL',
  inputPrice: 'GEMINI_INPUT_PRICE',
  outputPrice: 'GEMINI_OUTPUT_PRICE',
};

const REFUSED: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
]);

/** Cut at a limit: the caller's, or the vendor's for one request. */
const CUT: ReadonlySet<string> = new Set(['MAX_TOKENS', 'CONTINUATION']);

export class Gemini implements HostedAgent {
  readonly name = 'gemini';
  readonly model: string;
  readonly price: Price;
  private readonly settings: ModelSettings;
  private client: Promise<GoogleGenAI> | undefined;

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
    const { models } = await this.client;
    let headers: Headers | undefined;
    const fetching = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const response = await fetchOnce(input, init);
      headers = response.headers;
      return response;
    };
    const items = received({
      signal,
      progress,
      open: (closing) => models.generateContentStream(this.parameters(request, closing, fetching)),
      failureOf: (error) => failureOf(error, headers, progress),
    });
    const answer = { text: '', model: this.model, finish: '', blocked: false };
    for await (const item of items) {
      const { success, data } = chunk.safeParse(item);
      if (!success) throw failure('malformed', progress);
      progress.understood = true;
      progress.usage = usageOf(data, progress.usage);
      answer.model = data.modelVersion ?? answer.model;
      answer.finish = data.candidates?.[0]?.finishReason ?? answer.finish;
      answer.blocked ||= data.promptFeedback?.blockReason != null;
      const text = textOf(data);
      answer.text += text;
      if (text !== '') onText?.(text);
    }
    return answerOf(answer, progress);
  }

  private parameters(request: ModelRequest, abortSignal: AbortSignal, fetching: typeof fetch) {
    const { system, prompt, maxOutputTokens } = request;
    return {
      model: this.model,
      contents: prompt,
      config: {
        abortSignal,
        maxOutputTokens,
        ...(system !== undefined && { systemInstruction: system }),
        automaticContinuation: false, // which would be requests of its own
        httpOptions: { fetch: fetching },
      },
    };
  }
}

/** No `retryOptions`: without them the SDK sends a request once. */
async function connect({ apiKey = '', baseUrl }: ModelSettings): Promise<GoogleGenAI> {
  const { GoogleGenAI: Client } = await import('@google/genai');
  return new Client({ apiKey, vertexai: false, httpOptions: { baseUrl } });
}

/** Each count is the running total. What is thought is billed as output. */
function usageOf({ usageMetadata }: Chunk, before: Usage | undefined): Usage {
  const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = usageMetadata ?? {};
  const output = (candidatesTokenCount ?? 0) + (thoughtsTokenCount ?? 0);
  return {
    inputTokens: promptTokenCount ?? before?.inputTokens ?? 0,
    outputTokens: Math.max(output, before?.outputTokens ?? 0),
  };
}

interface Answer {
  readonly text: string;
  readonly model: string;
  readonly finish: string;
  readonly blocked: boolean;
}

function answerOf({ text, model, finish, blocked }: Answer, progress: Progress): ModelAnswer {
  if (!progress.understood) throw failure('malformed', progress);
  if (blocked || REFUSED.has(finish)) throw concluded('refused', progress);
  if (finish === '') throw failure('truncated', progress);
  const complete = !CUT.has(finish);
  if (complete && finish !== 'STOP') throw concluded('malformed', progress, 'an answer that is none');
  return modelAnswer({ text, model, complete }, progress);
}
