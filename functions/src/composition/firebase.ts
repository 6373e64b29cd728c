/** Composes how callers read, write and follow their own data. */
import { CachedCallerTokens } from '../access/store/callerTokens.ts';
import { IdentityToolkitSignIn } from '../access/store/signIn.ts';
import { webApiKey } from '../config.ts';
import { firebaseApp } from '../kernel/firebaseApp.ts';
import { realtimeDatabase } from '../kernel/realtime/database.ts';
import { FirestoreAccess } from '../toolsets/firebase/firestore/access.ts';
import { RealtimeAccess } from '../toolsets/firebase/realtime/access.ts';
import { DataService } from '../toolsets/firebase/rules/data.ts';
import type { FirebasePorts } from '../toolsets/firebase/rules/ports.ts';
import { SubscriptionService } from '../toolsets/firebase/rules/subscriptions.ts';
import { DatabaseEventLog } from '../toolsets/firebase/store/eventLog.ts';
import { FirestoreSubscriptionReader } from '../toolsets/firebase/store/subscriptions.ts';
import { DatabaseWatcherLeases } from '../toolsets/firebase/store/watcherLeases.ts';
import type { Foundation } from './foundation.ts';

/** How long a database may take to answer a call that runs as its caller. */
const DATABASE_TIMEOUT_MILLISECONDS = 10_000;

export function firebasePorts(foundation: Foundation) {
  const { clock, database, documents, unreadable } = foundation;
  const access = {
    ...foundation,
    tokens: new CachedCallerTokens(new IdentityToolkitSignIn(firebaseApp, webApiKey()), clock),
    timeoutMilliseconds: DATABASE_TIMEOUT_MILLISECONDS,
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
