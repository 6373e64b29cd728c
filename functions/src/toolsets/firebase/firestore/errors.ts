/** Maps errors of the Firestore client to errors for the caller. */
import { isDecidedByContent, permissionFor } from '../../../access/rules/permissions.ts';
import { expiredCredential } from '../../../identity/rules/credential.ts';
import type { Caller } from '../../../identity/rules/principal.ts';
import { UnknownCommitOutcomeError } from '../../../kernel/commit.ts';
import { connectionError, MusterError, quotaExceeded } from '../../../kernel/errors.ts';
import { TOO_LARGE } from '../../../kernel/firestore/client.ts';
import { statusCode } from '../../../kernel/firestore/verifiedCommit.ts';
import type { DataPath } from '../rules/databaseAccess.ts';
import * as errors from '../rules/dataErrors.ts';

export interface Attempt {
  readonly caller: Caller;
  readonly path: DataPath;
  readonly action: 'read' | 'write' | 'watch';
  readonly orderBy?: string | undefined;
}

/** Converts an error that the caller can act on to a MusterError. Returns other errors unchanged. */
export function explainedError(error: unknown, attempt: Attempt): unknown {
  if (error instanceof MusterError) return error;
  if (error instanceof UnknownCommitOutcomeError) return errors.unknownWriteOutcome(error);
  const { caller, path, action } = attempt;
  const isWrite = action === 'write';
  switch (statusCode(error)) {
    case 1: // CANCELLED
    case 2: // UNKNOWN
    case 4: // DEADLINE_EXCEEDED
    case 13: // INTERNAL
    case 14: // UNAVAILABLE
      return isWrite ? errors.unknownWriteOutcome(error) : connectionError(error);
    case 3: // INVALID_ARGUMENT
      return isWrite ? invalidDataError(error) : readDenied(path);
    case 5: // NOT_FOUND: the document to write, or the database itself, which a caller cannot fix
      return isWrite ? errors.pathNotFound(path.text) : connectionError(error);
    case 9: // FAILED_PRECONDITION
      if (!isWrite) return errors.missingIndex(indexOf(attempt), error);
      return errors.writeConflict('Another write happened since your read.', error);
    case 6: // ALREADY_EXISTS
    case 10: // ABORTED
      return errors.writeConflict('Another write happened since your read.', error);
    case 16: // UNAUTHENTICATED: an agent cannot sign in again, because its ID token was created for this call
      if (caller.principal.kind === 'person') return expiredCredential(error);
      return errors.permissionDenied(path.text, error);
    case 7: // PERMISSION_DENIED
      if (couldBeReadable(attempt)) return errors.nothingReadable(path.text, error);
      return errors.permissionDenied(path.text, error);
    case 8: // RESOURCE_EXHAUSTED
      return quotaExceeded(error);
    default:
      return error;
  }
}

/**
 * Returns whether the failed call is a read that the rules may allow for some documents at this path. If the rules
 * decide by the fields of a document, they also deny reads of missing documents, so missing and hidden documents get
 * the same error.
 */
function couldBeReadable({ caller, action, path: { database, text, kind } }: Attempt): boolean {
  if (action !== 'read' || kind !== 'document') return false;
  const { permission } = permissionFor({ database, path: text });
  const isHeld = permission.spansWorkspaces === true && caller.principal.held_to !== undefined;
  return isDecidedByContent(permission) && !isHeld;
}

function readDenied({ kind, text }: DataPath): MusterError {
  return kind === 'document'
    ? errors.invalidPath(text, 'is not accepted by Firestore')
    : errors.invalidRequest('query', 'Firestore rejected this query.', 'Order by another field.');
}

function invalidDataError(error: unknown): MusterError {
  return TOO_LARGE.test(String(error))
    ? errors.sizeLimitExceeded('data', 'The document exceeds 1 MiB.', 'Split it into several documents.')
    : errors.invalidDataType('data', 'Firestore rejected this data.', 'See docs/guides/data.md.');
}

/** Describes the index to add. Firestore's own error contains only a console link, which callers cannot use. */
function indexOf({ path, orderBy = '__name__' }: Attempt): string {
  const override = {
    collectionGroup: path.segments.at(-1),
    fieldPath: orderBy,
    indexes: [{ order: 'ASCENDING', queryScope: 'COLLECTION' }],
  };
  return `In firestore.indexes.json, add this to "fieldOverrides", replacing the entry of the same field: ${JSON.stringify(override)}`;
}
