/** Firestore storage of sign-ins in progress and of registered clients. */
import type { Versioned } from '../../kernel/commit.ts';
import { authorizationPath, clientPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../kernel/firestore/store.ts';
import {
  type Authorization,
  type AuthorizationChanges,
  authorizationFromDocument,
  authorizationToDocument,
} from '../rules/authorization.ts';
import {
  type ClientChanges,
  clientFromDocument,
  clientToDocument,
  type RegisteredClient,
  type SignInQueries,
} from '../rules/clients.ts';

export class FirestoreSignInQueries extends FirestoreReader implements SignInQueries {
  async authorization(id: string): Promise<Versioned<Authorization> | undefined> {
    const snapshot = await this.database.doc(authorizationPath(id)).get();
    return this.documents.findVersioned(snapshot, authorizationFromDocument);
  }

  async client(id: string): Promise<RegisteredClient | undefined> {
    return this.documents.find(await this.database.doc(clientPath(id)).get(), clientFromDocument);
  }
}

export const signInWriters: ChangeWriters<AuthorizationChanges & ClientChanges> = {
  startAuthorization({ authorization }, writes) {
    writes.create(authorizationPath(authorization.id), authorizationToDocument(authorization));
  },
  replaceAuthorization({ authorization, version }, writes) {
    writes.replace(authorizationPath(authorization.id), authorizationToDocument(authorization), version);
  },
  endAuthorization({ id, version }, writes) {
    writes.deleteAt(authorizationPath(id), version);
  },
  storeClient({ client }, writes) {
    writes.set(clientPath(client.id), clientToDocument(client));
  },
};
