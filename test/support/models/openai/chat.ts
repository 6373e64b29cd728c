/**
 * Responses of OpenAI's Chat Completions API, whole or as the chunks of a stream. Their types are those of OpenAI's
 * SDK. Source: https://platform.openai.com/docs/api-reference/chat
 */
import type { OpenAI } from 'openai';
import type { Ending } from '../dialect.ts';
import { argumentsOf, REFUSAL, serverSent, type Turn } from './turn.ts';

type Chunk = OpenAI.ChatCompletionChunk;
type Completion = OpenAI.ChatCompletion;
type Reason = Completion['choices'][number]['finish_reason'];
type Delta = Chunk['choices'][number]['delta'];

const REASONS: Readonly<Record<Ending, Reason>> = {
  complete: 'stop',
  limit: 'length',
  full: 'length',
  refusal: 'content_filter',
};

export interface ChatOptions {
  /** Whether the server reports usage: in an answer, and at the end of a stream whose request asks for it. */
  readonly usage: boolean;
  /** Further fields of the usage, such as OpenRouter's `cost`. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

const CREATED = 1_790_000_000;

export function wholeCompletion(turn: Turn, { usage, extra }: ChatOptions): Completion {
  const { model, number, text } = turn;
  const isRefused = turn.ending === 'refusal';
  const calls = toolCalls(turn);
  return {
    id: `chatcmpl-${number}`,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [
      {
        index: 0,
        finish_reason: reasonOf(turn),
        logprobs: null,
        message: {
          role: 'assistant',
          content: isRefused || text === '' ? null : text,
          refusal: isRefused ? REFUSAL : null,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
      },
    ],
    ...(usage && { usage: { ...usageFields(turn), ...extra } }),
  };
}

/** @param pieces the text of the turn, in the pieces in which it is sent */
export function completionChunks(turn: Turn, pieces: readonly string[], options: ChatOptions): readonly string[] {
  const { model, number, thinking } = turn;
  const base = { id: `chatcmpl-${number}`, object: 'chat.completion.chunk', created: CREATED, model } as const;
  const chunk = (delta: Delta, finish_reason: Reason | null = null): Chunk => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const calls = toolCalls(turn).map((call, index) => ({ index, ...call }));
  const last: Chunk = { ...base, choices: [], usage: { ...usageFields(turn), ...options.extra } };
  return [
    chunk({ role: 'assistant', content: '' }),
    // No type of the SDK has this field, in which vLLM, OpenRouter and others stream thoughts.
    ...(thinking === '' ? [] : [chunk({ content: null, ...{ reasoning_content: thinking } })]),
    ...(turn.ending === 'refusal' ? [chunk({ refusal: REFUSAL })] : []),
    ...pieces.filter(Boolean).map((content) => chunk({ content })),
    ...calls.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, reasonOf(turn)),
    ...(options.usage ? [last] : []),
  ]
    .map((one) => serverSent(one))
    .concat('data: [DONE]\n\n');
}

/** Returns a chunk with an error, with which servers end a stream that has started. */
export function errorChunk(code: string | number): string {
  return serverSent({ error: { message: 'The vendor explains it in its own words', type: 'server_error', code } });
}

function reasonOf({ calls, ending }: Turn): Reason {
  return calls.length > 0 && ending === 'complete' ? 'tool_calls' : REASONS[ending];
}

function toolCalls({ number, calls }: Turn): OpenAI.ChatCompletionMessageFunctionToolCall[] {
  return calls.map((call, index) => ({
    id: `call_${number}_${index}`,
    type: 'function',
    function: { name: call.tool, arguments: argumentsOf(call) },
  }));
}

function usageFields({ usage }: Turn): OpenAI.CompletionUsage {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
