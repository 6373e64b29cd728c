import type { DocumentReference } from '@google-cloud/firestore';

/** gRPC's code of what is there already. */
const ALREADY_EXISTS = 6;

/** Creates a document whose id says what it is about, unless it is there. */
export async function createOnce(document: DocumentReference, data: object): Promise<void> {
  try {
    await document.create(data);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === ALREADY_EXISTS)) throw error;
  }
}
