/** One turn of a local model with OpenAI's interface, independent of the dialect in which the turn is sent. */
import { type Ending, tokensIn } from '../dialect.ts';

/** A call of a tool. Input that is text makes it a call of a custom tool, which only the Responses API has. */
export interface ToolCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>> | string;
}

export interface Turn {
  readonly model: string;
  /** Number of the turn, which makes the ids of its items unique. */
  readonly number: number;
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly ending: Ending;
  readonly usage: TurnUsage;
}

/** Tokens of one request. `cached` is part of `input`, and `reasoning` is part of `output`. */
export interface TurnUsage {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Text of the refusals in both dialects. */
export const REFUSAL = 'I cannot help with that.';

/** Returns the usage of a turn. @param limit maximum number of output tokens */
export function usageOf(prompt: string, thinking: string, output: string, limit = Number.MAX_SAFE_INTEGER): TurnUsage {
  const total = Math.min(tokensIn(thinking + output), limit);
  return { input: tokensIn(prompt), cached: 0, output: total, reasoning: Math.min(tokensIn(thinking), total) };
}

/** Returns the arguments of a tool call as the model writes them. */
export function argumentsOf({ input }: ToolCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}

export function serverSent(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

const TYPES: Readonly<Record<number, readonly [type: string, code: string | null]>> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  402: ['insufficient_quota', 'insufficient_quota'],
  403: ['invalid_request_error', 'unsupported_country_region_territory'],
  404: ['invalid_request_error', 'model_not_found'],
  429: ['requests', 'rate_limit_exceeded'],
};

/** Error body of OpenAI's API. Source: https://platform.openai.com/docs/guides/error-codes */
export function errorBody(status: number, code?: string, message = WORDS): unknown {
  const [type, usual] = TYPES[status] ?? ['server_error', null];
  return { error: { message, type, param: null, code: code ?? usual } };
}

const WORDS = 'The vendor explains it in its own words';
