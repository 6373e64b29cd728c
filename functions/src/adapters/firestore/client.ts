import { Firestore } from '@google-cloud/firestore';

export type { Firestore };

let client: Firestore | undefined;

/** The server's own Firestore client: of the environment's credentials, past the security rules. */
export function firestore(): Firestore {
  client ??= new Firestore();
  return client;
}
