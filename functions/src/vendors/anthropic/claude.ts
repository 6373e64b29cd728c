/** Claude, through Anthropic's SDK and its Messages API. Source: https://platform.claude.com/docs/en/api/messages */

import type { Anthropic } from '@anthropic-ai/sdk';
import { z } from 'zod';
import type {
  AskOptions,
  FailureClass,
  ModelAnswer,
  ModelFailure,
  ModelRequest,
  Usage,
} from '../../toolsets/orchestration/index.ts';
import { broken, classOfStatus, concluded, failure, type Progress, statusDetail } from '../modelFailure.ts';
import {
  fetchOnce,
  type ModelSettings,
  modelAnswer,
  received,
  retryAfterMs,
  VendorModel,
} from '../models.ts';

/** Cut at a limit: the caller's, or the model's own. */
const CUT: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded']);

export class Claude extends VendorModel<Anthropic> {
  readonly name = 'claude';
  protected readonly parameters = { api: 'ANTHROPIC', model: 'CLAUDE' };

  async ask(request: ModelRequest, { signal, onText }: AskOptions): Promise<ModelAnswer> {
    const progress = this.newProgress();
    const { messages } = await this.connected();
    const events = received({
      signal,
      progress,
      part: event,
      open: (closing) => messages.create(this.message(request), { signal: closing }),
      failureOf: (error) => failureOf(error, progress),
    });
    const message = { text: '', model: this.model, stop: '', ended: false };
    for await (const data of events) {
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

  protected async connect({ apiKey = '', baseUrl }: ModelSettings): Promise<Anthropic> {
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

  private message({ system, prompt, maxOutputTokens }: ModelRequest) {
    return {
      model: this.model,
      max_tokens: maxOutputTokens,
      ...(system !== undefined && { system }),
      messages: [{ role: 'user' as const, content: prompt }],
      stream: true as const,
    };
  }
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

// The events of a streamed message, as far as they are used; others are passed over, since new ones may
// come. Source: https://platform.claude.com/docs/en/build-with-claude/streaming

const count = z.int().min(0);

const counts = z.object({
  input_tokens: count.nullish(),
  cache_creation_input_tokens: count.nullish(),
  cache_read_input_tokens: count.nullish(),
  output_tokens: count.nullish(),
});

type Counts = z.output<typeof counts>;

const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ model: z.string(), usage: counts }) }),
  z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.string(), text: z.string().optional() }),
  }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: counts,
  }),
  z.object({ type: z.literal('message_stop') }),
]);

const KNOWN: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value));

const other = z
  .object({ type: z.string().refine((type) => !KNOWN.has(type)) })
  .transform(() => ({ type: 'other' as const }));

const event = z.union([known, other]);

// What the Messages API's refusals mean. Source: https://platform.claude.com/docs/en/api/errors; the SDK's
// `ErrorType` and `ErrorDetails`

const refusal = z.object({
  status: z.int().optional(),
  headers: z.instanceof(Headers).optional(),
  type: z.string().nullable(),
  errorCode: z.string().nullable(),
  apiMessage: z.string().nullable(),
});

type Refusal = z.output<typeof refusal>;

const TYPES: Readonly<Record<string, FailureClass>> = {
  authentication_error: 'authentication',
  permission_error: 'authentication',
  billing_error: 'quota',
  rate_limit_error: 'rate_limited',
  timeout_error: 'timeout',
  overloaded_error: 'overloaded',
  api_error: 'server_error',
  request_too_large: 'context_too_long',
  not_found_error: 'invalid_request',
  invalid_request_error: 'invalid_request',
};

const SPENT: ReadonlySet<string> = new Set([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);

/** Anthropic has no code of its own for these two: only the wording tells them from other invalid requests. */
const TOO_LONG = /prompt is too long|exceed\S* (the )?context (window|limit)|input length and `max_tokens`/i;
const NO_CREDIT = /credit balance is too low/i;

/** @param error what the SDK threw */
function failureOf(error: unknown, progress: Progress): ModelFailure {
  const parsed = refusal.safeParse(error);
  const said = parsed.success ? parsed.data : undefined;
  // Without a status and a type it is the SDK's word for a broken connection.
  if (said === undefined || (said.status === undefined && said.type === null)) {
    return isTimeout(error) ? failure('timeout', progress) : broken(error, progress);
  }
  const wait = retryAfterMs(said.headers);
  return failure(classOf(said), progress, {
    detail: said.status === undefined ? 'while it was answering' : statusDetail(said.status),
    ...(wait !== undefined && { retryAfterMs: wait }),
  });
}

function classOf({ status, type, errorCode, apiMessage }: Refusal): FailureClass {
  if (errorCode !== null && SPENT.has(errorCode)) return 'quota';
  const byType = type === null ? undefined : TYPES[type];
  const kind = status === undefined || status === 400 ? byType : undefined;
  const found = kind ?? (status === undefined ? 'server_error' : classOfStatus(status));
  if (found !== 'invalid_request') return found;
  if (TOO_LONG.test(apiMessage ?? '')) return 'context_too_long';
  return NO_CREDIT.test(apiMessage ?? '') ? 'quota' : found;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'APIConnectionTimeoutError';
}
