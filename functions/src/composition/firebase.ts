/** Composes how callers read, write and follow their own data. */
import { firebaseApp } from '../adapters/admin/firebaseApp.ts';
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { IdentityToolkitSignIn } from '../adapters/auth/agentSignIn.ts';
import { CachedCallerTokens } from '../adapters/auth/callerTokens.ts';
import { RealtimeAccess } from '../adapters/database/asCaller/access.ts';
import { DatabaseEventLog } from '../adapters/database/eventLog.ts';
import { DatabaseWatcherLeases } from '../adapters/database/watcherLeases.ts';
import { FirestoreAccess } from '../adapters/firestore/asCaller/access.ts';
import { FirestoreSubscriptionReader } from '../adapters/firestore/subscriptionReader.ts';
import { webApiKey } from '../config.ts';
import type { FirebasePorts } from '../domain/data/ports.ts';
import { DataService } from '../domain/data/service.ts';
import { SubscriptionService } from '../domain/subscriptions/service.ts';
import type { Foundation } from './foundation.ts';

/** How long a database may take to answer a call that runs as its caller. */
const DATABASE_PATIENCE_MILLISECONDS = 10_000;

export function firebasePorts(foundation: Foundation) {
  const { clock, database, documents, unreadable } = foundation;
  const access = {
    ...foundation,
    tokens: new CachedCallerTokens(new IdentityToolkitSignIn(firebaseApp, webApiKey()), clock),
    patienceMilliseconds: DATABASE_PATIENCE_MILLISECONDS,
  };
  return {
    databases: {
      firestore: new FirestoreAccess(access),
      realtime: new RealtimeAccess({ ...access, app: firebaseApp }),
    },
    subscriptions: new FirestoreSubscriptionReader(database, documents),
    events: new DatabaseEventLog(realtimeDatabase, unreadable),
    leases: new DatabaseWatcherLeases(realtimeDatabase),
  };
}

export function firebaseServices(ports: FirebasePorts) {
  return { data: new DataService(ports), subscriptions: new SubscriptionService(ports) };
}
