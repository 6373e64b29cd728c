import type { AnyChange, Store } from '../kernel/commit.ts';
import type { DocumentSource } from '../kernel/firestore/reading.ts';
import type { firebaseApp } from '../kernel/platform.ts';
import type { KernelPorts } from '../kernel/ports.ts';
import type { realtimeDatabase } from '../kernel/realtime/database.ts';
import { AccountSweep } from './rules/accountSweep.ts';
import { CredentialAuthenticator } from './rules/authentication.ts';
import { CallRecorder } from './rules/callMetrics.ts';
import { Invitations } from './rules/invitations.ts';
import { OwnerRoles } from './rules/leaving.ts';
import { AgentLiveness } from './rules/liveness.ts';
import { PersonRoleReader } from './rules/personRoles.ts';
import type { AccessChange, AccessPorts } from './rules/ports.ts';
import { type RateLimit, RateLimiter, UNLIMITED } from './rules/rateLimiter.ts';
import { AgentRegistration } from './rules/registration.ts';
import { type Endings, Revocation } from './rules/revocation.ts';
import { FirestoreAccessChangeQueries } from './store/accessChanges.ts';
import { followChanges, mirrorPerson, mirrorWorkspaces } from './store/accessMirror.ts';
import { FirebaseIdTokenVerifier } from './store/accounts.ts';
import { FirestoreAgentDirectory } from './store/agentDirectory.ts';
import { FirestoreAgentQueries, FirestoreGrantQueries } from './store/agents.ts';
import { CachedCallerTokens, IdentityToolkitSignIn } from './store/idTokens.ts';
import { DatabaseLimitLedger, DatabaseMetricsLedger } from './store/ledgers.ts';
import { FirestorePeopleQueries } from './store/people.ts';
import { DatabasePresence } from './store/presence.ts';
import { FirestoreWorkspaceQueries } from './store/workspaces.ts';

/** `Change`: how the calls of a revoked agent end that wait for approval. */
export interface AccessDependencies<Change extends AnyChange> extends DocumentSource {
  readonly kernel: KernelPorts;
  readonly store: Store<AccessChange | Change>;
  readonly realtime: typeof realtimeDatabase;
  readonly app: typeof firebaseApp;
  readonly webApiKey: string;
  /** undefined: nobody is limited. */
  readonly rateLimit: RateLimit | undefined;
  readonly waitingCalls: Endings<Change>['waitingCalls'];
}

/** Creates who may call: credentials, agents, people and their roles, rate limits and presence. */
export function createAccess<Change extends AnyChange>(dependencies: AccessDependencies<Change>) {
  const { database, documents, kernel, store, realtime, app, webApiKey, rateLimit, waitingCalls } =
    dependencies;
  const { clock, log } = kernel;
  const ledgers = {
    limits: new DatabaseLimitLedger({ database: realtime, clock }),
    metrics: new DatabaseMetricsLedger({ database: realtime, clock }),
  };
  const people = new FirestorePeopleQueries(database, documents);
  const idTokens = new FirebaseIdTokenVerifier({ app, clock });
  const callMetrics = new CallRecorder(ledgers.metrics, kernel);
  const ports: AccessPorts = {
    ...kernel,
    store,
    agents: new FirestoreAgentQueries(database, documents),
    accessChanges: new FirestoreAccessChangeQueries(database, documents),
    grants: new FirestoreGrantQueries(database, documents),
    directory: new FirestoreAgentDirectory(database, documents),
    people,
    workspaces: new FirestoreWorkspaceQueries(database, documents, realtime),
    roles: new PersonRoleReader({ people, idTokens }),
    presence: new DatabasePresence({ database: realtime, clock }),
    idTokens,
    limits: rateLimit ? new RateLimiter(rateLimit, ledgers.limits, kernel) : UNLIMITED,
    metrics: callMetrics,
  };
  const liveness = new AgentLiveness(ports);
  const invitations = new Invitations(ports);
  return {
    ports,
    ledgers,
    callMetrics,
    invitations,
    ownerRoles: new OwnerRoles(ports),
    /** For what runs under the security rules as its caller. */
    callerTokens: new CachedCallerTokens({ agents: new IdentityToolkitSignIn({ app, webApiKey }), clock }),
    /** Shows the databases' rules what commits have changed of who may do what. */
    followed: (changes: Parameters<typeof followChanges>[1]) =>
      followChanges({ database: realtime, people, log }, changes),
    services: {
      liveness,
      authenticator: new CredentialAuthenticator({ ...ports, liveness, invitations }),
      registration: new AgentRegistration(ports),
      revocation: new Revocation<Change>({ ...ports, store, endings: { waitingCalls } }),
      accountSweep: new AccountSweep(ports),
      mirrorPerson: (uid: string) => mirrorPerson(realtime, people, uid),
      mirrorWorkspaces: () => mirrorWorkspaces(realtime, people),
    },
  };
}
