import type { Invitations } from '../access/rules/invitations.ts';
import type { AccessPorts } from '../access/rules/ports.ts';
import type { AgentRegistration } from '../agents/rules/registration.ts';
import type { Store } from '../kernel/commit.ts';
import type { DocumentSource } from '../kernel/firestore/reading.ts';
import { Apps } from './rules/apps.ts';
import { type ClientDocuments, Clients, type SignInChange } from './rules/clients.ts';
import { Consent } from './rules/consent.ts';
import { TokenService } from './rules/tokens.ts';
import { FirestoreSignInQueries } from './store/signIns.ts';

export interface SignInDependencies extends DocumentSource {
  readonly access: AccessPorts;
  readonly store: Store<SignInChange>;
  readonly clientDocuments: ClientDocuments;
  readonly invitations: Invitations;
  readonly registration: AgentRegistration;
}

/** Creates the OAuth authorization server, through which people connect their clients. */
export function createSignIn(dependencies: SignInDependencies) {
  const { database, documents, access, store, clientDocuments, invitations, registration } = dependencies;
  const signIns = new FirestoreSignInQueries(database, documents);
  const ports = { ...access, store, signIns, clientDocuments };
  const clients = new Clients(ports);
  const apps = new Apps({ ...ports, registration });
  const consent = new Consent({ ...ports, invitations, apps, clients });
  return { ports, services: { signIn: { clients, consent, tokens: new TokenService(ports) } } };
}
