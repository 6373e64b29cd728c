import type { Firestore } from '@google-cloud/firestore';
import { registryPath } from './paths.ts';

/** Reads one document, whether or not it is there. */
export async function probeFirestore(database: Firestore): Promise<void> {
  await database.doc(registryPath(0)).get();
}
