/** The server's own Firestore client, and the limits that Firestore has. */

import { type DocumentReference, Firestore, type Query } from '@google-cloud/firestore';
import { MusterError } from '../errors.ts';
import { MAX_SHOWN_BYTES } from '../json.ts';
import { WORKSPACE_ACCESS_PATH } from './paths.ts';
import { ALREADY_EXISTS, statusCode } from './provenCommit.ts';

let client: Firestore | undefined;

/** The deployment's database, by the parameter `DATABASE_ID`, which operators' programs have in their environment, too. */
export function databaseId(): string {
  return process.env['DATABASE_ID'] || '(default)';
}

/** The server's own Firestore client: of the environment's credentials, past the security rules. */
export function firestore(): Firestore {
  client ??= new Firestore({ databaseId: databaseId() });
  return client;
}

/** Matches the errors of Firestore and its emulator for a document above 1 MiB. */
export const TOO_LARGE = /exceeds the maximum|maximum entity size|is longer than \d+ bytes/;

/** A page of documents ends before so many bytes of JSON, hardly more than an answer has room for. */
export const MAX_PAGE_BYTES = 2.5 * MAX_SHOWN_BYTES;

/** A query cannot be broken off: so many documents are read at once, and may be read beyond what is given. */
export const MAX_READ_AT_ONCE = 100;

/** Reads one document, whether or not it is there. */
export async function probeFirestore(database: Firestore): Promise<void> {
  await database.doc(WORKSPACE_ACCESS_PATH).get();
}

/** Creates a document whose id says what it is about, unless it is there. */
export async function createOnce(document: DocumentReference, data: object): Promise<void> {
  try {
    await document.create(data);
  } catch (error) {
    if (statusCode(error) !== ALREADY_EXISTS) throw error;
  }
}

/** So many documents are deleted in one write. */
const DELETED_AT_ONCE = 300;

/** Deletes a query's documents, the first first, until `isOver`: somebody else goes on later. @returns how many */
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

/** The error of a commit whose data does not fit into a document. */
export function tooLarge(cause: unknown): MusterError {
  return new MusterError('VALIDATION_ERROR', 'Document too large: the limit is 1 MiB.', {
    reason: 'SIZE_LIMIT_EXCEEDED',
    suggestion: 'Nothing was changed. Shorten texts and lists, or move them to a file and link to it.',
    cause,
  });
}
