import type { DocumentSource } from '../kernel/firestore/reading.ts';
import type { KernelPorts } from '../kernel/ports.ts';
import type { firebaseApp } from '../kernel/realtime/database.ts';
import type { IdentityPorts } from './rules/ports.ts';
import { FirebaseIdTokenVerifier, PersonRoleReader } from './store/accounts.ts';
import { FirestoreAccessChangeQueries, FirestoreGrantQueries } from './store/credentials.ts';
import { FirestorePeopleQueries } from './store/people.ts';

export interface IdentityDependencies extends DocumentSource {
  readonly kernel: Pick<KernelPorts, 'clock'>;
  readonly app: typeof firebaseApp;
}

/** Creates the stores of people, accounts, roles, credentials and grants. */
export function createIdentity({ database, documents, kernel, app }: IdentityDependencies) {
  const people = new FirestorePeopleQueries(database, documents);
  const idTokens = new FirebaseIdTokenVerifier({ app, clock: kernel.clock });
  const ports: IdentityPorts = {
    people,
    idTokens,
    accessChanges: new FirestoreAccessChangeQueries(database, documents),
    grants: new FirestoreGrantQueries(database, documents),
    roles: new PersonRoleReader({ people, idTokens }),
  };
  return { ports };
}
