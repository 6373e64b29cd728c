/** Sign-ins that are under way, and the apps that have registered themselves, as Firestore keeps them. */
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/firestore/codec.ts';
import { authorizationPath, clientPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../kernel/firestore/store.ts';
import type { Authorization, AuthorizationChanges } from '../rules/authorization.ts';
import type { ClientChanges, RegisteredClient } from '../rules/clients.ts';

export class SignInQueries extends FirestoreReader {
  async authorization(id: string): Promise<Versioned<Authorization> | undefined> {
    const snapshot = await this.database.doc(authorizationPath(id)).get();
    return this.documents.findVersioned(snapshot, authorizationFromDocument);
  }

  async client(id: string): Promise<RegisteredClient | undefined> {
    return this.documents.find(await this.database.doc(clientPath(id)).get(), clientFromDocument);
  }
}

/** What a client has asked for, until its person has decided: `authorizations/{id}`. */
export const { toDocument: authorizationToDocument, fromDocument: authorizationFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Of the secret that the browser has in a cookie, in which the sign-in began. */
    browser_hash: z.string(),
    client_id: z.string(),
    client_name: z.string(),
    client_host: z.string().nullable(),
    redirect_uri: z.string(),
    /** The client's own, which it is given back. */
    state: z.string().nullable(),
    challenge: z.string(),
    /** Whether the client asks for reading alone. */
    is_readonly: z.boolean(),
    resource: z.string(),
    issuer: z.string(),
    /** Who has signed in, and what their page shows that it is theirs; null until then. */
    person: z.object({ uid: z.string(), approval_hash: z.string() }).nullable(),
    expires_at: timestamp,
  }),
);

/** An app that has registered itself: `clients/{id}`. */
export const { toDocument: clientToDocument, fromDocument: clientFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    name: z.string(),
    redirect_uris: z.array(z.string()),
    created_at: timestamp,
    /** Unless it is used. */
    expires_at: timestamp,
  }),
);

export const signInWriters: ChangeWriters<AuthorizationChanges & ClientChanges> = {
  beginAuthorization({ authorization }, writes) {
    writes.create(authorizationPath(authorization.id), authorizationToDocument(authorization));
  },
  replaceAuthorization({ authorization, version }, writes) {
    writes.replace(authorizationPath(authorization.id), authorizationToDocument(authorization), version);
  },
  endAuthorization({ id, version }, writes) {
    writes.deleteAt(authorizationPath(id), version);
  },
  keepClient({ client }, writes) {
    writes.set(clientPath(client.id), clientToDocument(client));
  },
};
