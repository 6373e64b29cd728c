/**
 * The one error class and the one table of codes. Handlers throw MusterError; mcp/answer.ts alone
 * turns it into a toolset's envelope. Source: docs/semantics.md#errors; the network specification, "Specific Error Codes".
 */

/** Every code, with the integer that the network specification gives it at /mcp/rpc. */
export const ERROR_CODES = {
  UNAUTHORIZED: -32100,
  FORBIDDEN: -32101,
  TOKEN_EXPIRED: -32102,
  APPROVAL_REQUIRED: -32103,
  NOT_FOUND: -32200,
  CONFLICT: -32201,
  GONE: -32202,
  VALIDATION_ERROR: -32300,
  REQUIRED_FIELD: -32301,
  INVALID_FORMAT: -32302,
  RATE_LIMITED: -32400,
  QUOTA_EXCEEDED: -32401,
  FIREBASE_ERROR: -32500,
  GITHUB_ERROR: -32501,
  TIMEOUT: -32502,
  MODEL_ERROR: -32503,
  METHOD_NOT_FOUND: -32601,
  INTERNAL: -32603,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** More about an error than its message; all of it is shown to the caller except `cause`. */
export interface ErrorDetails {
  /** The argument at fault, as a dotted path: `tasks.3.priority`. */
  readonly field?: string;
  /** The value that the caller sent there, where showing it is safe and short. */
  readonly value?: unknown;
  /** Why it was refused, for a program: `UNKNOWN_DEPENDENCY`. */
  readonly reason?: string;
  /** What to do next, for a model or a person. */
  readonly suggestion?: string;
  /** Whole seconds, at least 1, after which the same call may succeed. */
  readonly retryAfter?: number;
  /** The names of what there is instead, where others gave them: data, never part of a sentence. */
  readonly entries?: readonly string[];
  /** What it is about, by the names of arguments and answers: `task_id`. */
  readonly about?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
}

/** Sentences quote what a caller sent, which may have megabytes: neither an answer nor the log takes more. */
const MAX_SENTENCE = 2000;

/** An error that its caller can act on. The message never holds a stack, a path, a token or vendor text. */
export class MusterError extends Error {
  readonly code: ErrorCode;
  readonly details: Omit<ErrorDetails, 'cause'>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, field, suggestion, ...shown } = details;
    super(bounded(message), cause === undefined ? undefined : { cause });
    this.name = 'MusterError';
    this.code = code;
    this.details = {
      ...shown,
      ...(field !== undefined && { field: bounded(field) }),
      ...(suggestion !== undefined && { suggestion: bounded(suggestion) }),
    };
  }
}

/** Keeps the end as well, which says what was wrong with what is quoted before it. */
function bounded(sentence: string): string {
  if (sentence.length <= MAX_SENTENCE) return sentence;
  const half = MAX_SENTENCE / 2;
  // The cut may go through a character: a half of one is not text.
  return `${sentence.slice(0, half)}…${sentence.slice(1 - half)}`.replace(/\p{Surrogate}/gu, '');
}

/** The key belongs to another call. */
export function keyReused(): MusterError {
  return new MusterError('CONFLICT', 'This idempotency_key was already used with other arguments.', {
    field: 'idempotency_key',
    reason: 'KEY_REUSED',
    suggestion: 'Use a new key for a new call, or repeat the original call exactly.',
  });
}

/** Its `reason` is a name of the network specification, "Error Scenarios", its code one of "Specific Error Codes". */
export function connectionError(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'The database is unreachable.', {
    reason: 'CONNECTION_ERROR',
    suggestion: 'Retry later. system.getSystemStatus reports its health.',
    cause,
  });
}

/** As connectionError. */
export function quotaExceeded(cause: unknown): MusterError {
  return new MusterError('QUOTA_EXCEEDED', 'The database quota is exhausted.', {
    reason: 'QUOTA_EXCEEDED',
    suggestion: 'Retry later, or contact the operator.',
    cause,
  });
}

// The parts of a request that errors and logs quote.

const SHOWN_KEY_LENGTH = 60;
const SHOWN_KEYS = 8;
const SHOWN_VALUE_LENGTH = 100;

/** Returns a dotted path that may be shown, whatever the keys are: `tasks.3.priority`. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => shownName(String(key)));
  return shown.join('.') + (keys.length > SHOWN_KEYS ? '.…' : '');
}

/** Returns a name of a request, shortened, with its unprintable characters replaced. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_KEY_LENGTH).replace(/\p{C}/gu, '\ufffd');
  return name.length > SHOWN_KEY_LENGTH ? `${printable}…` : printable;
}

/** Returns whether a value is short and plain enough to be sent back. */
export function isShowable(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= SHOWN_VALUE_LENGTH && shownName(value) === value;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}
