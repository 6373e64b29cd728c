/** gRPC's codes of a failed call. Source: https://grpc.io/docs/guides/status-codes */
export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
const CANCELLED = 1;
const UNKNOWN = 2;
const DEADLINE_EXCEEDED = 4;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const ABORTED = 10;
const INTERNAL = 13;
const UNAVAILABLE = 14;

/** What a commit is refused with that met another's writes, or its own of an earlier sending. */
export const STALE_CODES: readonly (number | undefined)[] = [
  NOT_FOUND,
  ALREADY_EXISTS,
  FAILED_PRECONDITION,
  ABORTED,
];

/** What stands in place of an answer that was lost: the commit may have been carried out. */
export const UNANSWERED_CODES: readonly (number | undefined)[] = [
  CANCELLED,
  UNKNOWN,
  DEADLINE_EXCEEDED,
  RESOURCE_EXHAUSTED,
  INTERNAL,
  UNAVAILABLE,
];

/** Those of them after which the Firestore client does not send a commit again by itself. */
export const SENT_ONCE_CODES: readonly (number | undefined)[] = [
  CANCELLED,
  UNKNOWN,
  DEADLINE_EXCEEDED,
  INTERNAL,
];

/** What the SDK says where a listening is ended, whose error has no code of its own. */
const ENDED = /^Error (\d+): /;

export function statusCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'number') return error.code;
  const [, code] = ENDED.exec(error.message) ?? [];
  return code === undefined ? undefined : Number(code);
}
