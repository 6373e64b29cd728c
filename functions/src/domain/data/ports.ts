/** How callers' own data is reached, and subscriptions to it are kept. */
import type { AccessPorts } from '../agents/ports.ts';
import type { SubscriptionReader } from '../readers.ts';
import type { EventLog, WatcherLeases } from '../subscriptions/log.ts';
import type { DatabaseAccesses } from './access.ts';

export interface FirebasePorts extends AccessPorts {
  readonly databases: DatabaseAccesses;
  readonly subscriptions: SubscriptionReader;
  readonly events: EventLog;
  readonly leases: WatcherLeases;
}
