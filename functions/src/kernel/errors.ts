/**
 * The error class and the table of error codes. Handlers throw MusterError; only mcp/toolResponse.ts converts it to a
 * toolset's envelope. Source: docs/semantics.md#errors; the network specification, "Specific Error Codes".
 */

/** Error codes with their integers at /mcp/rpc, from the network specification. */
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

/** Details of an error. All except `cause` are shown to the caller. */
export interface ErrorDetails {
  /** Invalid argument, as a dotted path: `tasks.3.priority`. */
  readonly field?: string;
  /** Value that the caller sent there, if it is short and safe to show. */
  readonly value?: unknown;
  /** Machine-readable reason: `UNKNOWN_DEPENDENCY`. */
  readonly reason?: string;
  /** Next action, for a model or a person. */
  readonly suggestion?: string;
  /** Whole seconds, at least 1, after which the same call may succeed. */
  readonly retryAfter?: number;
  /** Names of existing alternatives, if others chose the names: data, never part of a sentence. */
  readonly entries?: readonly string[];
  /** Ids of related things, by argument name: `task_id`. */
  readonly about?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Maximum length of a message: it may quote megabytes of caller text, which must not reach responses or logs. */
const MAX_SENTENCE = 2000;

/** An error that its caller can act on. The message never contains a stack, a path, a token or vendor text. */
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

/** Shortens a sentence in the middle, because its end states the fault of the quoted text. */
function bounded(sentence: string): string {
  if (sentence.length <= MAX_SENTENCE) return sentence;
  const half = MAX_SENTENCE / 2;
  // The cut may split a surrogate pair.
  return `${sentence.slice(0, half)}…${sentence.slice(1 - half)}`.replace(/\p{Surrogate}/gu, '');
}

/** Returns the error for an idempotency key that belongs to another call. */
export function keyReused(): MusterError {
  return new MusterError('CONFLICT', 'This idempotency_key was already used with other arguments.', {
    field: 'idempotency_key',
    reason: 'KEY_REUSED',
    suggestion: 'Use a new key for a new call, or repeat the original call exactly.',
  });
}

/** Returns the error for an unreachable database. The reason is from the network specification, "Error Scenarios". */
export function connectionError(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'The database is unreachable.', {
    reason: 'CONNECTION_ERROR',
    suggestion: 'Retry later. system.getSystemStatus reports its health.',
    cause,
  });
}

/** Returns the error for an exhausted database quota. Source: as for `connectionError`. */
export function quotaExceeded(cause: unknown): MusterError {
  return new MusterError('QUOTA_EXCEEDED', 'The database quota is exhausted.', {
    reason: 'QUOTA_EXCEEDED',
    suggestion: 'Retry later, or contact the operator.',
    cause,
  });
}

// Parts of a request that errors and logs quote.

const SHOWN_KEY_LENGTH = 60;
const SHOWN_KEYS = 8;
const SHOWN_VALUE_LENGTH = 100;

/** Returns a dotted path that is safe to show for any keys: `tasks.3.priority`. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => shownName(String(key)));
  return shown.join('.') + (keys.length > SHOWN_KEYS ? '.…' : '');
}

/** Returns a shortened name from a request, with unprintable characters replaced. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_KEY_LENGTH).replace(/\p{C}/gu, '\ufffd');
  return name.length > SHOWN_KEY_LENGTH ? `${printable}…` : printable;
}

/** Returns whether a value is short and plain enough to send back. */
export function isShowable(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= SHOWN_VALUE_LENGTH && shownName(value) === value;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}
