/**
 * Errors of reads and writes with callers' rights. As in the network specification, `reason` is the name in "Error
 * Scenarios", and the code is the one in "Specific Error Codes".
 */
import { MusterError } from '../../../kernel/errors.ts';

const SHOWN_PATH_LENGTH = 100;

function shown(path: string): string {
  return path.length > SHOWN_PATH_LENGTH ? `${path.slice(0, SHOWN_PATH_LENGTH)}…` : path;
}

export function invalidPath(path: string, what: string, suggestion?: string): MusterError {
  return new MusterError('INVALID_FORMAT', `The path ${what}.`, {
    field: 'path',
    value: shown(path),
    reason: 'INVALID_PATH',
    suggestion: suggestion ?? 'Use a path such as "agents/agent-001" or "messages/conversations/conv-123".',
  });
}

/** Returns the error for access that the security rules deny. The rules do not report why. */
export function permissionDenied(path: string, cause: unknown): MusterError {
  return new MusterError('FORBIDDEN', `The security rules deny this access to "${shown(path)}".`, {
    field: 'path',
    reason: 'PERMISSION_DENIED',
    suggestion:
      'Workers can write under messages/ and shared/; tools write all other data. To list data of a workspace, set orderBy to "workspace", and startAt and endAt to the workspace name. access.explain shows what is required.',
    cause,
  });
}

export function pathNotFound(path: string): MusterError {
  return new MusterError('NOT_FOUND', `Nothing found at "${shown(path)}".`, {
    field: 'path',
    reason: 'NOT_FOUND',
    suggestion: 'Check the path, or read its parent. To create data at the path, use "set" instead of "update".',
  });
}

/** Returns one error for both missing and hidden data, so that it does not reveal whether hidden data exists. */
export function nothingReadable(path: string, cause: unknown): MusterError {
  return new MusterError('NOT_FOUND', `Nothing readable found at "${shown(path)}".`, {
    field: 'path',
    reason: 'NOT_FOUND',
    suggestion: 'Check the path. access.explain shows what is required.',
    cause,
  });
}

/** Returns the error for a value that the database cannot store. */
export function invalidDataType(field: string, what: string, suggestion?: string): MusterError {
  return new MusterError('INVALID_FORMAT', what, { field, reason: 'INVALID_DATA_TYPE', suggestion });
}

export function invalidRequest(field: string, what: string, suggestion?: string): MusterError {
  return new MusterError('VALIDATION_ERROR', what, { field, reason: 'VALIDATION_ERROR', suggestion });
}

export function sizeLimitExceeded(field: string, what: string, suggestion: string): MusterError {
  return new MusterError('VALIDATION_ERROR', what, { field, reason: 'SIZE_LIMIT_EXCEEDED', suggestion });
}

/** Returns the error for data that another write has changed, or whose version is not the expected one. */
export function writeConflict(what: string, cause?: unknown): MusterError {
  return new MusterError('CONFLICT', what, {
    reason: 'CONFLICT',
    suggestion: 'Nothing was written. Read the data again and retry with the new version.',
    cause,
  });
}

/** Returns the error for a write whose response was lost. The database may have applied it, or may apply it later. */
export function unknownWriteOutcome(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'The database did not respond.', {
    reason: 'CONNECTION_ERROR',
    suggestion: 'The write may or may not have been applied. Read the path before you retry.',
    cause,
  });
}

/** Returns the error for a write whose response was lost, if another write has also changed the data. */
export function overwrittenWrite(path: string, cause?: unknown): MusterError {
  return new MusterError(
    'CONFLICT',
    `The response to this write was lost, and "${shown(path)}" has changed since then. Your write may or may not have been applied.`,
    {
      field: 'path',
      reason: 'CONFLICT',
      suggestion: 'Read the path. If your write is missing, repeat it on the current data. Otherwise, continue.',
      cause,
    },
  );
}

/** @param definition describes the index to add, and the file to add it to */
export function missingIndex(
  definition: string,
  cause: unknown,
  what = 'This query needs an index that does not exist.',
): MusterError {
  return new MusterError('FIREBASE_ERROR', what, {
    field: 'query',
    reason: 'MISSING_INDEX',
    suggestion: definition,
    cause,
  });
}

/** Returns the error for a query without an index, on a node that is too large to be sorted without an index. */
export function tooLargeWithoutIndex(maxBytes: number, definition: string, cause: unknown): MusterError {
  const what = `This query needs an index that does not exist, and the data exceeds ${maxBytes} bytes, the limit for sorting without it.`;
  return missingIndex(definition, cause, what);
}
