/** What a failed call of the Firestore client means to its caller. */

import { isDecidedByContent, permissionFor } from '../../../access/rules/permissions.ts';
import { expired } from '../../../identity/rules/credential.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { UnansweredCommitError } from '../../../kernel/commit.ts';
import { connectionError, MusterError, quotaExceeded } from '../../../kernel/errors.ts';
import { TOO_LARGE } from '../../../kernel/firestore/client.ts';
import { statusCode } from '../../../kernel/firestore/provenCommit.ts';
import type { DataPath } from '../rules/databaseAccess.ts';
import {
  invalidDataType,
  invalidPath,
  invalidRequest,
  missingIndex,
  nothingReadable,
  pathNotFound,
  permissionDenied,
  sizeLimitExceeded,
  unansweredWrite,
  writeConflict,
} from '../rules/dataErrors.ts';

/** What was attempted when it failed. */
export interface Attempt {
  readonly caller: Caller;
  readonly path: DataPath;
  readonly action: 'read' | 'write' | 'watch';
  readonly orderBy?: string | undefined;
}

/** A MusterError wherever the caller can act on it; what is not Firestore's goes on as it is. */
export function explained(error: unknown, attempt: Attempt): unknown {
  if (error instanceof MusterError) return error;
  if (error instanceof UnansweredCommitError) return unansweredWrite(error);
  const { caller, path, action } = attempt;
  const isWrite = action === 'write';
  switch (statusCode(error)) {
    case 1: // CANCELLED
    case 2: // UNKNOWN
    case 4: // DEADLINE_EXCEEDED
    case 13: // INTERNAL
    case 14: // UNAVAILABLE
      return isWrite ? unansweredWrite(error) : connectionError(error);
    case 3: // INVALID_ARGUMENT
      return isWrite ? refusedData(error) : refusedRead(path);
    case 5: // NOT_FOUND: only a write can miss its document; a missing database is nothing that a caller can mend
      return isWrite ? pathNotFound(path.text) : connectionError(error);
    case 9: // FAILED_PRECONDITION
      if (!isWrite) return missingIndex(indexOf(attempt), error);
      return writeConflict('Somebody else wrote in between.', error);
    case 6: // ALREADY_EXISTS
    case 10: // ABORTED
      return writeConflict('Somebody else wrote in between.', error);
    case 16: // UNAUTHENTICATED: an agent's token was minted for this call, and signing in again does not help
      if (caller.principal.kind === 'person') return expired(error);
      return permissionDenied(path.text, error);
    case 7: // PERMISSION_DENIED
      return refusedByRules(error, attempt);
    case 8: // RESOURCE_EXHAUSTED
      return quotaExceeded(error);
    default:
      return error;
  }
}

function refusedByRules(error: unknown, attempt: Attempt): MusterError {
  const { path, action } = attempt;
  return action === 'read' && couldBeReadable(attempt)
    ? nothingReadable(path.text, error)
    : permissionDenied(path.text, error);
}

/**
 * Whether some document at this path would be readable for the caller. The rules refuse a missing document that they decide
 * about by its fields, and one of others, in the same way, so both are answered in the same way, too.
 */
function couldBeReadable({ caller, path: { database, text, kind } }: Attempt): boolean {
  if (kind !== 'document') return false;
  const { permission } = permissionFor({ database, path: text });
  const isHeld = permission.spansWorkspaces === true && caller.principal.held_to !== undefined;
  return isDecidedByContent(permission) && !isHeld;
}

function refusedRead({ kind, text }: DataPath): MusterError {
  return kind === 'document'
    ? invalidPath(text, 'is not one that Firestore takes')
    : invalidRequest('query', 'Firestore does not take this query.', 'Order by another field.');
}

function refusedData(error: unknown): MusterError {
  return TOO_LARGE.test(String(error))
    ? sizeLimitExceeded('data', 'A document holds at most 1 MiB.', 'Split it over several documents.')
    : invalidDataType('data', 'Firestore does not store this data.', 'See docs/guides/data.md.');
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
