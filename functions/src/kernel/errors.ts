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

/** Details of an error. The caller gets all of them except `cause`. */
export interface ErrorDetails {
  /** Dotted path of the invalid argument: `tasks.3.priority`. */
  readonly field?: string;
  /** Value that the caller sent at `field`, if the value is short and safe to show. */
  readonly value?: unknown;
  /** Machine-readable reason: `UNKNOWN_DEPENDENCY`. */
  readonly reason?: string;
  readonly suggestion?: string | undefined;
  /** Seconds after which the same call may succeed, a whole number of at least 1. */
  readonly retryAfter?: number;
  /** Names of existing alternatives. Users may have chosen the names, so they are data and not part of a sentence. */
  readonly entries?: readonly string[];
  /** Ids of related items, by argument name: `task_id`. */
  readonly about?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Maximum length of a message, because a message may quote megabytes of text from the caller. */
const MAX_SENTENCE = 2000;

/** An error on which the caller can act. Its message contains no stack trace, path, token or text of a vendor. */
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

/** Removes the middle of a long sentence. The end stays, because it states what is wrong with the quoted text. */
function bounded(sentence: string): string {
  if (sentence.length <= MAX_SENTENCE) return sentence;
  const half = MAX_SENTENCE / 2;
  // Removes the halves of a surrogate pair that the cut has split.
  return `${sentence.slice(0, half)}…${sentence.slice(1 - half)}`.replace(/\p{Surrogate}/gu, '');
}

/** Returns the error for a missing item. @param named the argument with its id @param place such as ` in this workspace` */
export function notFound(what: string, named: Readonly<Record<string, string>>, suggestion: string, place = '') {
  const [[field = '', value = ''] = []] = Object.entries(named);
  return new MusterError('NOT_FOUND', `${what} "${value}" not found${place}.`, { field, value, suggestion });
}

/** Returns the error for a name that is not among the known ones. @param field the argument with the name */
export function unknownName(what: string, value: string, known: readonly string[], field: string): MusterError {
  const suggestion = `Use one of: ${known.join(', ')}.`;
  return new MusterError('VALIDATION_ERROR', `Unknown ${what} "${value}".`, { field, value, suggestion });
}

/** Returns the error for an idempotency key that belongs to another call. */
export function keyReused(): MusterError {
  return new MusterError('CONFLICT', 'This idempotency_key was already used with other arguments.', {
    field: 'idempotency_key',
    reason: 'KEY_REUSED',
    suggestion: 'Use a new key for a new call, or repeat the original call exactly.',
  });
}

/** Returns the error for an unreachable database. Its reason is from the network specification, "Error Scenarios". */
export function connectionError(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'The database is unreachable.', {
    reason: 'CONNECTION_ERROR',
    suggestion: 'Retry later. system.getSystemStatus reports the health of the database.',
    cause,
  });
}

/** Returns the error for an exhausted quota of the database. Its reason, too, is from the network specification. */
export function quotaExceeded(cause: unknown): MusterError {
  return new MusterError('QUOTA_EXCEEDED', 'The database quota is exhausted.', {
    reason: 'QUOTA_EXCEEDED',
    suggestion: 'Retry later, or contact the operator.',
    cause,
  });
}

const SHOWN_KEY_LENGTH = 60;
const SHOWN_KEYS = 8;
const SHOWN_VALUE_LENGTH = 100;

/** Returns the dotted path of an argument. It is safe to show, even if the keys are hostile. */
export function fieldPath(keys: readonly PropertyKey[]): string {
  const shown = keys.slice(0, SHOWN_KEYS).map((key) => shownName(String(key)));
  return shown.join('.') + (keys.length > SHOWN_KEYS ? '.…' : '');
}

/** Returns a name from a request, shortened and with unprintable characters replaced. */
export function shownName(name: string): string {
  const printable = name.slice(0, SHOWN_KEY_LENGTH).replace(/\p{C}/gu, '\ufffd');
  return name.length > SHOWN_KEY_LENGTH ? `${printable}…` : printable;
}

/** Returns whether a value from a request is short and plain enough to include in an error. */
export function isShowable(value: unknown): value is string | number | boolean | null {
  if (typeof value === 'string') return value.length <= SHOWN_VALUE_LENGTH && shownName(value) === value;
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}
