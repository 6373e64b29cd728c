/** Failures of model calls. Messages of vendors and SDKs are inspected, but never shown or stored. */
import { connectionCodes, isUnsent } from '../kernel/platform.ts';
import {
  type FailureClass,
  ModelFailure,
  type ModelFailureDetails,
  type Usage,
} from '../toolsets/orchestration/index.ts';

export interface Progress {
  readonly agent: string;
  /** Estimated tokens of the prompt. */
  readonly asked: number;
  /** Whether the response has started to arrive. */
  answered: boolean;
  /** Whether a part of the response could be parsed. */
  understood: boolean;
  /** Estimated tokens of the text and visible thinking that have arrived. */
  received: number;
  usage?: Usage;
  /** Headers of the response; set only if the SDK does not return them otherwise. */
  headers?: Headers;
}

const WORDS: Readonly<Record<FailureClass, string>> = {
  overloaded: 'is overloaded',
  rate_limited: 'is rate limited',
  network: 'could not be reached, or the connection was lost',
  timeout: 'did not respond in time',
  server_error: 'reported a server error',
  context_too_long: 'does not accept a prompt of this length',
  authentication: "rejected this deployment's credentials",
  quota: 'has no quota or credit left for this deployment',
  refused: 'refused to answer',
  invalid_request: 'rejected the request as invalid',
  malformed: 'returned an unreadable response',
  truncated: 'ended its response too early',
  aborted: 'was stopped before its response was complete',
};

/** Kinds of failures after which the vendor may have done the work and charged for it. */
const UNKNOWN_OUTCOME_KINDS: ReadonlySet<FailureClass> = new Set<FailureClass>([
  'network',
  'timeout',
  'server_error',
  'malformed',
  'truncated',
  'aborted',
]);

interface FailureOptions extends ModelFailureDetails {
  /** Detail that the message contains in parentheses, such as `HTTP 429`. */
  readonly detail?: string | undefined;
}

export function failure(kind: FailureClass, progress: Progress, options: FailureOptions = {}): ModelFailure {
  const { detail, retry_after_ms, outcome_unknown = progress.answered || UNKNOWN_OUTCOME_KINDS.has(kind) } = options;
  const words = `${progress.agent} ${WORDS[kind]}${detail === undefined ? '' : ` (${detail})`}.`;
  return new ModelFailure(kind, words, { outcome_unknown, retry_after_ms, usage: usageOf(progress, outcome_unknown) });
}

/**
 * Returns the usage. Vendors report output last, so an interrupted response counts at least the received tokens. Some
 * servers report no usage at all. Then the tokens are estimated, because nothing may be recorded as free.
 */
export function usageOf({ asked, usage, received }: Progress, isInterrupted = false): Usage | undefined {
  if (received === 0) return usage;
  const { input_tokens, output_tokens = 0, ...cost } = usage ?? { input_tokens: 0 };
  const isCounted = !isInterrupted && output_tokens > 0;
  return {
    ...cost,
    input_tokens: input_tokens || asked,
    output_tokens: isCounted ? output_tokens : Math.max(output_tokens, received),
  };
}

/** Returns the failure of a complete but unusable response. The vendor has done the work and charged for it. */
export function finalFailure(kind: FailureClass, progress: Progress, detail?: string): ModelFailure {
  return failure(kind, progress, { outcome_unknown: false, detail });
}

/** Returns the failure of a request that Muster has aborted, because of a timeout or a cancellation. */
export function abortFailure(signal: AbortSignal, progress: Progress, sent: boolean): ModelFailure {
  const timedOut = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return failure(timedOut ? 'timeout' : 'aborted', progress, { outcome_unknown: sent });
}

export function classOfStatus(status: number): FailureClass {
  return STATUSES[status] ?? (status >= 500 ? 'server_error' : status >= 400 ? 'invalid_request' : 'malformed');
}

/** @param status undefined if the vendor reported the error within its response */
export function statusDetail(status: number | undefined): string {
  if (status === undefined) return 'during the response';
  return status === 404 ? 'HTTP 404: probably an unknown model' : `HTTP ${status}`;
}

const STATUSES: Readonly<Record<number, FailureClass>> = {
  401: 'authentication',
  402: 'quota',
  403: 'authentication',
  408: 'timeout',
  413: 'context_too_long',
  429: 'rate_limited',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

const TOO_SLOW = /^(ETIMEDOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|APIConnectionTimeoutError)$/;

/** Classifies connection errors and unreadable responses. */
export function connectionFailure(error: unknown, progress: Progress): ModelFailure {
  const codes = connectionCodes(error);
  // The SDK of Anthropic sets the name of its errors, and the SDK of OpenAI does not.
  const names = error instanceof Error ? [error.name, error.constructor.name] : [];
  if ([...codes, ...names].some((word) => TOO_SLOW.test(word))) return failure('timeout', progress);
  if (isUnsent(error)) return failure('network', progress, { outcome_unknown: false });
  // For every connection failure, `fetch` throws a TypeError, whose causes have the error codes.
  const isFetchFailure = error instanceof TypeError || (error instanceof Error && error.cause instanceof TypeError);
  if (codes.length > 0 || isFetchFailure) return failure(progress.answered ? 'truncated' : 'network', progress);
  if (error instanceof SyntaxError || !progress.understood) return failure('malformed', progress);
  return failure('truncated', progress);
}
