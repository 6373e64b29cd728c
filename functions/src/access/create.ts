import type { AgentLiveness } from '../agents/rules/liveness.ts';
import type { IdentityPorts } from '../identity/rules/ports.ts';
import type { AnyChange, Store } from '../kernel/commit.ts';
import type { DocumentSource } from '../kernel/firestore/reading.ts';
import type { KernelPorts } from '../kernel/ports.ts';
import type { firebaseApp, realtimeDatabase } from '../kernel/realtime/database.ts';
import { AccountSweep } from './rules/accountSweep.ts';
import { CredentialAuthenticator } from './rules/authentication.ts';
import { Invitations } from './rules/invitations.ts';
import { OwnerRoles } from './rules/leaving.ts';
import type { AccessChange, AccessPorts } from './rules/ports.ts';
import { type Endings, Revocation } from './rules/revocation.ts';
import { followChanges, mirrorPerson, mirrorWorkspaces } from './store/accessMirror.ts';
import { CachedCallerTokens, IdentityToolkitSignIn } from './store/idTokens.ts';
import { FirestoreWorkspaceQueries } from './store/workspaces.ts';

/** `Change`: type of the change that ends the waiting calls of a revoked agent. */
export interface AccessDependencies<Change extends AnyChange> extends DocumentSource {
  readonly kernel: KernelPorts;
  readonly store: Store<AccessChange | Change>;
  readonly realtime: typeof realtimeDatabase;
  readonly app: typeof firebaseApp;
  readonly identity: IdentityPorts;
  readonly limits: Pick<AccessPorts, 'limits' | 'metrics'>;
  readonly agents: Pick<AccessPorts, 'agents' | 'directory' | 'presence'>;
  readonly liveness: AgentLiveness;
  readonly webApiKey: string;
  readonly waitingCalls: Endings<Change>['waitingCalls'];
}

/** Creates the parts of this feature: authentication, workspaces, invitations and revocation. */
export function createAccess<Change extends AnyChange>(dependencies: AccessDependencies<Change>) {
  const { database, documents, kernel, store, realtime, app, liveness } = dependencies;
  const { identity, limits, agents, webApiKey, waitingCalls } = dependencies;
  const { clock, log } = kernel;
  const { people } = identity;
  const workspaces = new FirestoreWorkspaceQueries(database, documents, realtime);
  const ports: AccessPorts = { ...agents, ...identity, ...limits, ...kernel, store, workspaces };
  const invitations = new Invitations(ports);
  return {
    ports,
    invitations,
    ownerRoles: new OwnerRoles(ports),
    /** Tokens for database clients that act as the caller, so that the security rules apply. */
    callerTokens: new CachedCallerTokens({ agents: new IdentityToolkitSignIn({ app, webApiKey }), clock }),
    /** Copies the access changes of a commit to the Realtime Database, for its security rules. */
    followed: (changes: Parameters<typeof followChanges>[1]) =>
      followChanges({ database: realtime, people, log }, changes),
    services: {
      authenticator: new CredentialAuthenticator({ ...ports, liveness, invitations }),
      revocation: new Revocation<Change>({ ...ports, store, endings: { waitingCalls } }),
      accountSweep: new AccountSweep(ports),
      mirrorPerson: (uid: string) => mirrorPerson(realtime, people, uid),
      mirrorWorkspaces: () => mirrorWorkspaces(realtime, people),
    },
  };
}
