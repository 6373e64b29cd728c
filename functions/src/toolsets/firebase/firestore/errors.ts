/** What a failed call of the Firestore client means to its caller. */

import { z } from 'zod';
import type { Caller } from '../../../access/rules/principal.ts';
import { expired } from '../../../access/rules/principal.ts';
import { UnansweredCommitError } from '../../../kernel/commit.ts';
import { connectionError, MusterError, quotaExceeded } from '../../../kernel/errors.ts';
import { TOO_LARGE } from '../../../kernel/firestore/client.ts';
import { statusCode } from '../../../kernel/firestore/provenCommit.ts';
import { jsonValue, parsedJson } from '../../../kernel/json.ts';
import type { DataPath } from '../rules/access.ts';
import {
  invalidDataType,
  invalidPath,
  invalidRequest,
  missingIndex,
  pathNotFound,
  permissionDenied,
  sizeLimitExceeded,
  unansweredWrite,
  writeConflict,
} from '../rules/errors.ts';

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

// Where a page ended, so that the next one goes on exactly there, also among equal values.

/** A cursor stays short enough for the tool's own limit, whatever the name. */
const MAX_VALUE_BYTES = 1000;

const writtenCursor = z.strictObject({
  /** A digest of the query, which is the only one that the cursor goes with. */
  query: z.string(),
  /** The last document's name. */
  name: z.string().min(1).max(1500),
  /** What it was ordered by, in the JSON form; absent where names alone order, and where it is long. */
  value: jsonValue.optional(),
});

export type Cursor = Readonly<z.output<typeof writtenCursor>>;

export function cursorText({ query, name, value }: Cursor): string {
  const long = Buffer.byteLength(JSON.stringify(value) ?? '') > MAX_VALUE_BYTES;
  const cursor = long ? { query, name } : { query, name, value };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** @throws MusterError VALIDATION_ERROR where it is no cursor, or another query's */
export function parseCursor(text: string, query: string): Cursor {
  const parsed = writtenCursor.safeParse(parsedJson(Buffer.from(text, 'base64url').toString('utf8')));
  if (!parsed.success) throw invalidCursor('This is no cursor.');
  const { value, ...cursor } = parsed.data;
  if (cursor.query !== query) throw invalidCursor('This cursor belongs to another query.');
  return value === undefined ? cursor : { ...cursor, value };
}

export function invalidCursor(what: string) {
  return invalidRequest(
    'query.cursor',
    what,
    'Give nextCursor back with the path, orderBy, startAt and endAt that it came from, or begin again without one.',
  );
}
