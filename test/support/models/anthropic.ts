/**
 * A local version of Anthropic's Messages API. Its requests and responses have the types of Anthropic's SDK. Source:
 * https://platform.claude.com/docs/en/api/messages
 */
import type { Anthropic } from '@anthropic-ai/sdk';
import { z } from 'zod';
import { type Dialect, type Ending, type Question, type Said, tokensIn, Unacceptable } from './dialect.ts';

const text = z.strictObject({ type: z.literal('text'), text: z.string().min(1) });
const content = z.union([z.string().min(1), z.array(text).min(1)]);

const request = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content })).min(1),
  stream: z.boolean().exactOptional(),
}) satisfies z.ZodType<Anthropic.MessageCreateParams>;

const STOPS: Readonly<Record<Ending, Anthropic.StopReason>> = {
  complete: 'end_turn',
  limit: 'max_tokens',
  full: 'model_context_window_exceeded',
  refusal: 'refusal',
};

const ERRORS: Readonly<Record<number, Anthropic.ErrorObject['type']>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Allowed values of the header `anthropic-version`. The SDK sends the later one. */
const VERSIONS: ReadonlySet<unknown> = new Set(['2023-06-01', '2026-10-21']);

export const anthropic: Dialect = {
  vendor: 'anthropic',
  serves: (path) => path === '/v1/messages',
  admits: ({ authorization }) => typeof authorization === 'string' && /^Bearer (?!wrong)\S+$/.test(authorization),
  read(_path, headers, body): Question {
    if (!VERSIONS.has(headers['anthropic-version'])) throw new Unacceptable('anthropic-version: unknown');
    const { success, data, error } = request.safeParse(body);
    if (!success) throw new Unacceptable(z.prettifyError(error));
    return {
      model: data.model,
      prompt: data.messages.map((message) => plain(message.content)).join('\n'),
      maxOutputTokens: data.max_tokens,
      streamed: data.stream ?? false,
    };
  },
  whole: (output) => message(output),
  events(output, pieces) {
    const { content: _content, stop_reason: _reason, usage, ...started } = message(output);
    const start = { ...started, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    return [
      named({ type: 'message_start', message: start }),
      ...(output.thinking === '' ? [] : thought(output.thinking)),
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } }),
      'event: ping\ndata: {"type": "ping"}\n\n',
      ...pieces
        .filter(Boolean)
        .map((piece) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } })),
      named({ type: 'content_block_stop', index: 0 }),
      named({
        type: 'message_delta',
        delta: { container: null, stop_details: null, stop_reason: STOPS[output.ending], stop_sequence: null },
        usage: {
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 0,
          input_tokens: usage.input_tokens,
          output_tokens: usage.output_tokens,
          output_tokens_details: null,
          server_tool_use: null,
        },
      }),
      named({ type: 'message_stop' }),
    ];
  },
  error: (status) => refusal(ERRORS[status] ?? 'api_error'),
  errorEvent: () => `event: error\ndata: ${JSON.stringify(refusal('overloaded_error'))}\n\n`,
};

function plain(given: z.output<typeof content>): string {
  return typeof given === 'string' ? given : given.map((block) => block.text).join('\n');
}

function message({ question, text: answer, thinking, ending }: Said): Anthropic.Message {
  return {
    id: 'msg_01LocalModel',
    type: 'message',
    role: 'assistant',
    model: question.model,
    container: null,
    diagnostics: null,
    content: answer === '' ? [] : [{ type: 'text', text: answer, citations: null }],
    stop_details: null,
    stop_reason: STOPS[ending],
    stop_sequence: null,
    usage: {
      cache_creation: null,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      inference_geo: null,
      input_tokens: tokensIn(question.prompt),
      output_tokens: Math.min(tokensIn(thinking + answer), question.maxOutputTokens),
      output_tokens_details: null,
      server_tool_use: null,
      service_tier: 'standard',
      speed: null,
    },
  };
}

function thought(thinking: string): readonly string[] {
  return [
    named({ type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking } }),
    named({ type: 'content_block_stop', index: 0 }),
  ];
}

function named(event: Anthropic.RawMessageStreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function refusal(type: Anthropic.ErrorObject['type']): Anthropic.ErrorResponse {
  return {
    type: 'error',
    error: { type, message: 'The vendor explains it in its own words' },
    request_id: 'req_011Local',
  };
}
