/** Claude models, called with Anthropic's SDK. Source: https://platform.claude.com/docs/en/api/messages */
import type { Anthropic } from '@anthropic-ai/sdk';
import { z } from 'zod';
import type { FailureClass, ModelFailure, ModelRequest } from '../../toolsets/orchestration/index.ts';
import { classOfStatus, connectionFailure, failure, type Progress, statusDetail } from '../modelFailure.ts';
import { type AnswerPart, type ModelSettings, retryAfterMs, SDK_OPTIONS, VendorModel } from '../vendorModel.ts';
import { type VertexSettings, vertexPlatform } from '../vertexAccess.ts';

const count = z.int().min(0).nullish();

const usage = z
  .object({
    input_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    output_tokens: count,
  })
  .transform((counts) => ({
    input_tokens:
      (counts.input_tokens ?? 0) + (counts.cache_creation_input_tokens ?? 0) + (counts.cache_read_input_tokens ?? 0),
    output_tokens: counts.output_tokens ?? 0,
  }));

/** Events of a streamed response. Source: https://platform.claude.com/docs/en/build-with-claude/streaming */
const known = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message_start'), message: z.object({ model: z.string(), usage }) }),
  z.object({
    type: z.literal('content_block_delta'),
    delta: z.object({ type: z.string(), text: z.string().optional(), thinking: z.string().optional() }),
  }),
  z.object({ type: z.literal('message_delta'), delta: z.object({ stop_reason: z.string().nullish() }), usage }),
  z.object({ type: z.literal('message_stop') }),
]);

const KNOWN: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value));

/** Unknown events are ignored, because Anthropic may add events. */
const other = z
  .object({ type: z.string().refine((type) => !KNOWN.has(type)) })
  .transform(() => ({ type: 'other' as const }));

const event = z.union([known, other]).transform((event): AnswerPart => {
  switch (event.type) {
    case 'message_start':
      return event.message;
    case 'content_block_delta':
      return { text: event.delta.text, thought: event.delta.thinking };
    case 'message_delta':
      return { finish: event.delta.stop_reason ?? '', usage: event.usage };
    default:
      return { ended: event.type === 'message_stop' };
  }
});

/** The part of the SDK's client that is used. The client for Vertex AI has it too. */
export interface MessagesClient {
  readonly messages: Pick<Anthropic['messages'], 'create'>;
}

export class Claude<Settings extends ModelSettings = ModelSettings> extends VendorModel<MessagesClient, Settings> {
  protected readonly part = event;

  protected async connect(): Promise<MessagesClient> {
    const { apiKey = '', baseUrl } = this.settings;
    const { Anthropic: Client } = await import('@anthropic-ai/sdk');
    return new Client({
      apiKey,
      authToken: null, // If omitted, the SDK reads a token from the environment.
      baseURL: baseUrl,
      ...SDK_OPTIONS,
      openTelemetry: false,
    });
  }

  protected async open({ messages }: MessagesClient, { prompt, maxOutputTokens }: ModelRequest, signal: AbortSignal) {
    return messages.create(
      { model: this.model, max_tokens: maxOutputTokens, messages: [{ role: 'user', content: prompt }], stream: true },
      { signal },
    );
  }

  protected meaningOf(finish: string) {
    if (finish === 'refusal') return 'refused';
    if (finish === 'model_context_window_exceeded') return 'full';
    return finish === 'max_tokens' ? 'cut' : 'whole';
  }

  protected failureOf(error: unknown, progress: Progress): ModelFailure {
    const found = refusal.safeParse(error).data;
    // The SDK's error for a lost connection has neither a status nor a type.
    if (found === undefined || (found.status === undefined && found.type === null))
      return connectionFailure(error, progress);
    const { status, headers } = found;
    return failure(classOf(found), progress, { detail: statusDetail(status), retry_after_ms: retryAfterMs(headers) });
  }
}

/** Claude models on Vertex AI. Source: https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai */
export class VertexClaude extends Claude<VertexSettings> {
  protected override readonly platform = vertexPlatform(this.settings);

  protected override async connect(): Promise<MessagesClient> {
    const { AnthropicVertex } = await import('@anthropic-ai/vertex-sdk');
    const { project, location, baseUrl } = this.settings;
    return new AnthropicVertex({
      projectId: project,
      region: location,
      baseURL: `${baseUrl}/v1`,
      authClient: await this.settings.identity(),
      ...SDK_OPTIONS,
    });
  }
}

// Errors of the Messages API. Source: https://platform.claude.com/docs/en/api/errors; the SDK's `ErrorType` and
// `ErrorDetails`

const refusal = z.object({
  status: z.int().optional(),
  headers: z.custom<Headers>((value) => value instanceof Headers).optional(),
  type: z.string().nullable(),
  errorCode: z.string().nullable(),
  apiMessage: z.string().nullable(),
});

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

const OUT_OF_CREDIT: ReadonlySet<string> = new Set([
  'contract_spend_limit_reached',
  'enforced_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);

/** Anthropic has no code for these two errors. Only their messages distinguish them from other invalid requests. */
const TOO_LONG = /prompt is too long|exceed\S* (the )?context (window|limit)|input length and `max_tokens`/i;
const NO_CREDIT = /credit balance is too low/i;

function classOf({ status, type, errorCode, apiMessage }: z.output<typeof refusal>): FailureClass {
  if (errorCode !== null && OUT_OF_CREDIT.has(errorCode)) return 'quota';
  const byType = type === null ? undefined : TYPES[type];
  const kind = status === undefined || status === 400 ? byType : undefined;
  const found = kind ?? (status === undefined ? 'server_error' : classOfStatus(status));
  if (found !== 'invalid_request') return found;
  if (TOO_LONG.test(apiMessage ?? '')) return 'context_too_long';
  return NO_CREDIT.test(apiMessage ?? '') ? 'quota' : found;
}
