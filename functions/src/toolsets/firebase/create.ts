import type { AccessPorts } from '../../access/rules/ports.ts';
import type { Store } from '../../kernel/commit.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import type { UnreadableDocuments } from '../../kernel/ports.ts';
import type { firebaseApp, realtimeDatabase } from '../../kernel/realtime/database.ts';
import { FirestoreAccess } from './firestore/access.ts';
import type { FirestorePorts } from './firestore/callerClients.ts';
import { RealtimeAccess } from './realtime/access.ts';
import { DataService } from './rules/dataService.ts';
import { FreeFormAudit } from './rules/freeForm.ts';
import type { DataChange, FirebasePorts } from './rules/ports.ts';
import { SubscriptionService } from './rules/subscriptionService.ts';
import { DatabaseEventLog } from './store/eventLog.ts';
import { FirestoreSubscriptionQueries } from './store/subscriptions.ts';
import { DatabaseCommitMarkers, DatabaseWatcherLeases } from './store/watcherLeases.ts';

const DATABASE_TIMEOUT_MS = 10_000;

export interface FirebaseDependencies extends DocumentSource {
  readonly access: AccessPorts;
  readonly store: Store<DataChange>;
  readonly realtime: typeof realtimeDatabase;
  readonly app: typeof firebaseApp;
  readonly callerTokens: FirestorePorts['tokens'];
  readonly unreadable: UnreadableDocuments;
}

/** Creates the access to both databases with the caller's rights, and the subscriptions. */
export function createFirebase(dependencies: FirebaseDependencies) {
  const { database, documents, access, store, realtime, app, callerTokens, unreadable } = dependencies;
  const { clock, hashing, randomness } = access;
  const asCaller = { clock, hashing, tokens: callerTokens, timeoutMilliseconds: DATABASE_TIMEOUT_MS };
  const ports: FirebasePorts = {
    ...access,
    store,
    databases: {
      firestore: new FirestoreAccess(asCaller),
      realtime: new RealtimeAccess({ ...asCaller, app, randomness }),
    },
    subscriptions: new FirestoreSubscriptionQueries(database, documents),
    events: new DatabaseEventLog({ database: realtime, unreadable }),
    leases: new DatabaseWatcherLeases({ database: realtime }),
  };
  const subscriptions = new SubscriptionService(ports);
  return {
    ports,
    inverses: { document: new FreeFormAudit(ports).document },
    expiring: { subscriptions, commitProofs: new DatabaseCommitMarkers({ database: realtime, clock }) },
    services: { data: new DataService(ports), subscriptions },
  };
}

export type FirebaseServices = ReturnType<typeof createFirebase>['services'];
