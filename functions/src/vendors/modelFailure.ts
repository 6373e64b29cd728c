/** Why asking a model failed, in our words. What a vendor or its SDK says is looked at and never repeated. */
import { connectionCodes, isUnsent } from '../kernel/platform.ts';
import {
  type FailureClass,
  ModelFailure,
  type ModelFailureDetails,
  type Usage,
} from '../toolsets/orchestration/index.ts';

/** How far one request has come. */
export interface Progress {
  readonly agent: string;
  /** The vendor has begun to answer. */
  answered: boolean;
  /** A part of the answer was understood. */
  understood: boolean;
  /** Tokens of text and of visible thinking that have come, estimated. */
  received: number;
  /** As the vendor has counted so far. */
  usage?: Usage;
  /** Of the answer, where the SDK does not hand them on. */
  headers?: Headers;
}

const WORDS: Readonly<Record<FailureClass, string>> = {
  overloaded: 'is overloaded',
  rate_limited: 'is asked more than its rate limit allows',
  network: 'could not be reached, or the connection broke',
  timeout: 'did not answer in time',
  server_error: 'failed on its own side',
  context_too_long: 'takes no prompt of this length',
  authentication: "refuses this deployment's key",
  quota: 'has no quota or credit left for this deployment',
  refused: 'refuses to answer this',
  invalid_request: 'does not accept this request',
  malformed: 'answered something that cannot be read',
  truncated: 'broke off in the middle of its answer',
  aborted: 'was stopped before its answer was complete',
};

/** After these the vendor may have done the work. Refusals before any work, and complete answers, leave no doubt. */
const DOUBTFUL: ReadonlySet<FailureClass> = new Set<FailureClass>([
  'network',
  'timeout',
  'server_error',
  'malformed',
  'truncated',
  'aborted',
]);

interface FailureOptions extends ModelFailureDetails {
  /** Stands in brackets behind the message: `HTTP 429`. */
  readonly detail?: string | undefined;
}

export function failure(kind: FailureClass, progress: Progress, options: FailureOptions = {}): ModelFailure {
  const { detail, retry_after_ms, outcome_unknown = progress.answered || DOUBTFUL.has(kind) } = options;
  const words = `${progress.agent} ${WORDS[kind]}${detail === undefined ? '' : ` (${detail})`}.`;
  return new ModelFailure(kind, words, {
    outcome_unknown,
    retry_after_ms,
    usage: usageOf(progress, outcome_unknown),
  });
}

/** Returns the usage. Vendors count output at its end: of a broken or uncounted answer it is at least what has come. */
export function usageOf({ usage, received }: Progress, brokeOff = false): Usage | undefined {
  if (received === 0) return usage;
  const { input_tokens = 0, output_tokens = 0 } = usage ?? {};
  if (!brokeOff && output_tokens > 0) return usage;
  return { input_tokens, output_tokens: Math.max(output_tokens, received) };
}

/** The answer is known to its end, and is none: the work was done, and counted. */
export function concluded(kind: FailureClass, progress: Progress, detail?: string): ModelFailure {
  return failure(kind, progress, { outcome_unknown: false, detail });
}

/** The failure of a request that was stopped here: its time is up, or its answer is no longer wanted. */
export function stopped(signal: AbortSignal, progress: Progress, sent: boolean): ModelFailure {
  const timedOut = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return failure(timedOut ? 'timeout' : 'aborted', progress, { outcome_unknown: sent });
}

export function classOfStatus(status: number): FailureClass {
  return (
    STATUSES[status] ?? (status >= 500 ? 'server_error' : status >= 400 ? 'invalid_request' : 'malformed')
  );
}

export function statusDetail(status: number): string {
  return status === 404 ? 'HTTP 404: most likely there is no such model' : `HTTP ${status}`;
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

const TOO_SLOW = /^(ETIMEDOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/;

/** What neither the vendor said nor we wanted: the connection, or a body that is not what it should be. */
export function broken(error: unknown, progress: Progress): ModelFailure {
  const codes = connectionCodes(error);
  if (codes.some((code) => TOO_SLOW.test(code))) return failure('timeout', progress);
  if (isUnsent(error)) return failure('network', progress, { outcome_unknown: false });
  if (codes.length > 0 || isFetchFailure(error)) {
    return failure(progress.answered ? 'truncated' : 'network', progress);
  }
  if (error instanceof SyntaxError || !progress.understood) return failure('malformed', progress);
  return failure('truncated', progress);
}

/** `fetch` throws a TypeError for all that befalls a connection; its causes carry the codes. */
function isFetchFailure(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && error.cause instanceof TypeError);
}
