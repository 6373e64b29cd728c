/** How callers' own data is reached, and subscriptions to it are kept. */
import type { AccessPorts } from '../../../access/rules/ports.ts';
import type { SubscriptionReader } from '../store/subscriptions.ts';
import type { DatabaseAccesses } from './access.ts';
import type { EventLog, WatcherLeases } from './eventLog.ts';

export interface FirebasePorts extends AccessPorts {
  readonly databases: DatabaseAccesses;
  readonly subscriptions: SubscriptionReader;
  readonly events: EventLog;
  readonly leases: WatcherLeases;
}
