/**
 * What reading and writing as the caller can be refused for, by the names of the network specification, "Error
 * Scenarios": the name is the error's `reason`, the code the one of "Specific Error Codes".
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
    suggestion: suggestion ?? 'Name a path such as "agents/agent-001" or "messages/conversations/conv-123".',
  });
}

/** The security rules said no. They say no more to the caller than that. */
export function permissionDenied(path: string, cause: unknown): MusterError {
  return new MusterError('FORBIDDEN', `The security rules do not let you do this at "${shown(path)}".`, {
    field: 'path',
    reason: 'PERMISSION_DENIED',
    suggestion:
      'Workers may write below messages/ and shared/; what tools own is written by those tools. A list of what is in workspaces takes orderBy "workspace" and its name as startAt and endAt. access.explain says what is needed here.',
    cause,
  });
}

export function pathNotFound(path: string): MusterError {
  return new MusterError('NOT_FOUND', `There is nothing at "${shown(path)}".`, {
    field: 'path',
    reason: 'NOT_FOUND',
    suggestion:
      'Check the path, or read the one above it to see what there is. The operation "set" makes what an "update" misses.',
  });
}

/** The same for data that does not exist and for data that the caller may not read. */
export function nothingReadable(path: string, cause: unknown): MusterError {
  return new MusterError('NOT_FOUND', `There is nothing at "${shown(path)}" that you may read.`, {
    field: 'path',
    reason: 'NOT_FOUND',
    suggestion: 'Check the path. access.explain says what is needed here.',
    cause,
  });
}

/** The data is of a kind that the database does not store. */
export function invalidDataType(field: string, what: string, suggestion?: string): MusterError {
  return new MusterError('INVALID_FORMAT', what, {
    field,
    reason: 'INVALID_DATA_TYPE',
    ...(suggestion !== undefined && { suggestion }),
  });
}

export function invalidRequest(field: string, what: string, suggestion?: string): MusterError {
  return new MusterError('VALIDATION_ERROR', what, {
    field,
    reason: 'VALIDATION_ERROR',
    ...(suggestion !== undefined && { suggestion }),
  });
}

export function sizeLimitExceeded(field: string, what: string, suggestion: string): MusterError {
  return new MusterError('VALIDATION_ERROR', what, { field, reason: 'SIZE_LIMIT_EXCEEDED', suggestion });
}

/** Somebody else wrote in between, or the version is not the expected one. */
export function writeConflict(what: string, cause?: unknown): MusterError {
  return new MusterError('CONFLICT', what, {
    reason: 'CONFLICT',
    suggestion: 'Nothing was written. Read it again, decide again, and write with the new version.',
    cause,
  });
}

/** A write that nobody has answered. The database may have it all the same, or get it yet. */
export function unansweredWrite(cause: unknown): MusterError {
  return new MusterError('FIREBASE_ERROR', 'The database has not answered.', {
    reason: 'CONNECTION_ERROR',
    suggestion: 'It may have been written, or be written yet: read it before you write it again.',
    cause,
  });
}

/** A write whose answer was lost, over which somebody has written since, or which lost to them. */
export function overwrittenWrite(path: string, cause?: unknown): MusterError {
  return new MusterError(
    'CONFLICT',
    `The answer to this write was lost, and "${shown(path)}" has changed since: whether it was written is not known.`,
    {
      field: 'path',
      reason: 'CONFLICT',
      suggestion:
        'Read it: where it builds on what you wrote, go on; otherwise decide again on what is there.',
      cause,
    },
  );
}

/** @param definition what to add, and to which file */
export function missingIndex(
  definition: string,
  cause: unknown,
  what = 'This query needs an index that is not there.',
): MusterError {
  return new MusterError('FIREBASE_ERROR', what, {
    field: 'query',
    reason: 'MISSING_INDEX',
    suggestion: definition,
    cause,
  });
}

/** There is no index, and too much to sort without one. */
export function tooLargeWithoutIndex(mostBytes: number, definition: string, cause: unknown): MusterError {
  const what = `This query needs an index that is not there, and there are more than ${mostBytes} bytes to sort without it.`;
  return missingIndex(definition, cause, what);
}
