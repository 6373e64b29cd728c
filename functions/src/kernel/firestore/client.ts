/** The server's Firestore client, and the limits of Firestore. */
import { type DocumentReference, Firestore, type Query } from '@google-cloud/firestore';
import { MusterError } from '../errors.ts';
import { MAX_SHOWN_BYTES } from '../json.ts';
import { lazy } from '../memoCache.ts';
import { WORKSPACE_ACCESS_PATH } from './paths.ts';
import { ALREADY_EXISTS, statusCode } from './verifiedCommit.ts';

/** Returns the id of the deployment's database. Programs of operators also set `DATABASE_ID`. */
export function databaseId(): string {
  return process.env['DATABASE_ID'] || '(default)';
}

/** Returns the server's Firestore client, which uses the environment's credentials and bypasses security rules. */
export const firestore = lazy(() => new Firestore({ databaseId: databaseId() }));

/** Matches the messages of Firestore and its emulator that report a document above 1 MiB. */
export const TOO_LARGE = /exceeds the maximum|maximum entity size|is longer than \d+ bytes/;

/** Maximum JSON bytes of one page of documents, slightly more than a response can hold. */
export const MAX_PAGE_BYTES = 2.5 * MAX_SHOWN_BYTES;

/** Maximum documents per read. A running query cannot be stopped, so up to 100 documents too many are read. */
export const MAX_READ_AT_ONCE = 100;

/** Reads one document to check whether Firestore responds. */
export async function probeFirestore(database: Firestore): Promise<void> {
  await database.doc(WORKSPACE_ACCESS_PATH).get();
}

/** Creates a document unless it exists. The content must depend only on the document's id. */
export async function createOnce(document: DocumentReference, data: object): Promise<void> {
  try {
    await document.create(data);
  } catch (error) {
    if (statusCode(error) !== ALREADY_EXISTS) throw error;
  }
}

const DELETED_AT_ONCE = 300;

/** Deletes a query's documents, in order, until `isOver` returns true. Returns the number of deleted documents. */
export async function deleteFound(query: Query, isOver: () => boolean = () => false): Promise<number> {
  let deleted = 0;
  while (!isOver()) {
    const { docs } = await query.limit(DELETED_AT_ONCE).select().get();
    const batch = query.firestore.batch();
    for (const { ref } of docs) batch.delete(ref);
    if (docs.length > 0) await batch.commit();
    deleted += docs.length;
    if (docs.length < DELETED_AT_ONCE) break;
  }
  return deleted;
}

/** Returns the error for data that is too large for one document. */
export function tooLarge(cause: unknown): MusterError {
  return new MusterError('VALIDATION_ERROR', 'The document exceeds the limit of 1 MiB.', {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Nothing was changed. Shorten texts and lists, or move them to a file and add a link.',
    cause,
  });
}
