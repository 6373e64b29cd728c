import type { DocumentReference } from '@google-cloud/firestore';
import { ALREADY_EXISTS, statusCode } from './statusCode.ts';

/** Creates a document whose id says what it is about, unless it is there. */
export async function createOnce(document: DocumentReference, data: object): Promise<void> {
  try {
    await document.create(data);
  } catch (error) {
    if (statusCode(error) !== ALREADY_EXISTS) throw error;
  }
}
