/** What a failed call of the Firestore client means to its caller. */
import { expired } from '../../../domain/agents/authentication.ts';
import type { Caller } from '../../../domain/data/caller.ts';
import {
  connectionError,
  invalidDataType,
  invalidPath,
  invalidRequest,
  missingIndex,
  pathNotFound,
  permissionDenied,
  quotaExceeded,
  sizeLimitExceeded,
  unansweredWrite,
  writeConflict,
} from '../../../domain/data/errors.ts';
import type { DataPath } from '../../../domain/data/path.ts';
import { MusterError } from '../../../domain/errors.ts';
import { UnansweredCommitError } from '../../../domain/store.ts';
import { TOO_LARGE } from '../limits.ts';
import { statusCode } from '../statusCode.ts';

/** What was attempted when it failed. */
export interface Attempt {
  readonly caller: Caller;
  readonly path: DataPath;
  readonly action: 'read' | 'write' | 'watch';
  readonly orderBy?: string | undefined;
}

type Explanation = (attempt: Attempt, error: unknown) => MusterError;

const EXPLANATIONS: ReadonlyMap<number | undefined, Explanation> = new Map([
  [1, unanswered], // CANCELLED
  [2, unanswered], // UNKNOWN
  [3, invalid], // INVALID_ARGUMENT
  [4, unanswered], // DEADLINE_EXCEEDED
  [5, missing], // NOT_FOUND
  [6, conflict], // ALREADY_EXISTS
  [7, ({ path }, error) => permissionDenied(path.text, error)], // PERMISSION_DENIED
  [8, (_attempt, error) => quotaExceeded(error)], // RESOURCE_EXHAUSTED
  [9, unmet], // FAILED_PRECONDITION
  [10, conflict], // ABORTED
  [13, unanswered], // INTERNAL
  [14, unanswered], // UNAVAILABLE
  [16, unauthenticated], // UNAUTHENTICATED
]);

/** A MusterError wherever the caller can act on it; what is not Firestore's goes on as it is. */
export function explained(error: unknown, attempt: Attempt): unknown {
  if (error instanceof MusterError) return error;
  if (error instanceof UnansweredCommitError) return unansweredWrite(error);
  return EXPLANATIONS.get(statusCode(error))?.(attempt, error) ?? error;
}

function invalid({ path, action }: Attempt, error: unknown): MusterError {
  if (action !== 'write') {
    return path.kind === 'document'
      ? invalidPath(path.text, 'is not one that Firestore takes')
      : invalidRequest('query', 'Firestore does not take this query.', 'Order by another field.');
  }
  return TOO_LARGE.test(String(error))
    ? sizeLimitExceeded('data', 'A document holds at most 1 MiB.', 'Split it over several documents.')
    : invalidDataType('data', 'Firestore does not store this data.', 'See docs/guides/data.md.');
}

function unanswered({ action }: Attempt, error: unknown): MusterError {
  return action === 'write' ? unansweredWrite(error) : connectionError(error);
}

/** Only a write can miss its document; a whole database that is missing is nothing that a caller can mend. */
function missing({ path, action }: Attempt, error: unknown): MusterError {
  return action === 'write' ? pathNotFound(path.text) : connectionError(error);
}

function conflict(_attempt: Attempt, error: unknown): MusterError {
  return writeConflict('Somebody else wrote in between.', error);
}

function unmet(attempt: Attempt, error: unknown): MusterError {
  if (attempt.action === 'write') return conflict(attempt, error);
  return missingIndex(indexOf(attempt), error);
}

/** Of our own query, since Firestore's text is a link into its console. A field's own index was taken away. */
function indexOf({ path, orderBy = '__name__' }: Attempt): string {
  const override = {
    collectionGroup: path.segments.at(-1),
    fieldPath: orderBy,
    indexes: [{ order: 'ASCENDING', queryScope: 'COLLECTION' }],
  };
  return `In firestore.indexes.json, put this into "fieldOverrides", in place of the one for the same field: ${JSON.stringify(override)}`;
}

/** An agent's token was minted for this call: where that is not accepted, signing in again does not help. */
function unauthenticated({ caller, path }: Attempt, error: unknown): MusterError {
  return caller.principal.kind === 'person' ? expired(error) : permissionDenied(path.text, error);
}
