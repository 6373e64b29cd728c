/** Instances of a deployment that a test can kill. Each instance has its own connection to the change log. */
import { randomUUID } from 'node:crypto';
import { deleteApp, initializeApp } from 'firebase-admin/app';
import { type Database, getDatabase } from 'firebase-admin/database';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Caller } from '../../../functions/src/identity/rules/principal.ts';
import { canonicalJson } from '../../../functions/src/kernel/json.ts';
import { systemClock } from '../../../functions/src/kernel/platform.ts';
import type { Clock } from '../../../functions/src/kernel/ports.ts';
import { busPath, firebaseApp, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type {
  DatabaseAccesses,
  DatabaseName,
  Watch,
} from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import type { ReadFrom, Reading } from '../../../functions/src/toolsets/firebase/rules/page.ts';
import type { EventType } from '../../../functions/src/toolsets/firebase/rules/subscription.ts';
import { SubscriptionService } from '../../../functions/src/toolsets/firebase/rules/subscriptionService.ts';
import { DatabaseEventLog } from '../../../functions/src/toolsets/firebase/store/eventLog.ts';
import { DatabaseWatcherLeases } from '../../../functions/src/toolsets/firebase/store/watcherLeases.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { unnoted } from '../../support/reading.ts';
import { silent } from '../coordination/team.ts';

/** Timeout for polls and streams that must end for a reason other than this timeout. */
export const LONGER_THAN_ANY_TEST_MS = 3_600_000;

export class Instance {
  readonly subscriptions: SubscriptionService;
  readonly composition: Composition;
  /** Watches that this instance has opened. */
  readonly watches = new Set<Watch>();
  private readonly app = initializeApp(firebaseApp().options, `instance-${randomUUID()}`);
  private isKilled = false;

  constructor(clock: Clock = systemClock) {
    this.composition = compose(externalServicesOf({ clock }));
    const database = async (): Promise<Database> => getDatabase(this.app);
    this.subscriptions = new SubscriptionService({
      ...this.composition.firebase.ports,
      log: silent,
      databases: this.countedDatabases(),
      events: new DatabaseEventLog({ database, unreadable: unnoted }),
      leases: new DatabaseWatcherLeases({ database }),
    });
  }

  /** Kills the instance as the platform would: closes its connection and stops its work. */
  kill(): void {
    this.isKilled = true;
    getDatabase(this.app).goOffline();
    for (const watch of this.watches) watch.stop();
  }

  async end(): Promise<void> {
    this.kill();
    await deleteApp(this.app);
  }

  private countedDatabases(): DatabaseAccesses {
    const counted = (name: DatabaseName): DatabaseAccesses[DatabaseName] => {
      const access = this.composition.firebase.ports.databases[name];
      return {
        read: (...args) => access.read(...args),
        write: (...args) => access.write(...args),
        watch: (caller, path, watched, watcher) => {
          const watch = access.watch(caller, path, watched, {
            initial: (state) => this.isKilled || watcher.initial(state),
            changed: (changes) => this.isKilled || watcher.changed(changes),
            failed: (error) => this.isKilled || watcher.failed(error),
          });
          const counting = {
            stop: () => {
              this.watches.delete(counting);
              watch.stop();
            },
          };
          this.watches.add(counting);
          return counting;
        },
      };
    };
    return { firestore: counted('firestore'), realtime: counted('realtime') };
  }
}

export interface Wish {
  readonly database: DatabaseName;
  readonly path: string;
  readonly eventType: EventType;
}

/** Creates a subscription with a new id, and returns a client that polls it. */
export async function subscribe(instance: Instance, caller: Caller, wish: Wish): Promise<Subscriber> {
  const subscriptionId = `sub-${randomUUID()}`;
  await instance.subscriptions.subscribe(caller, { subscriptionId, ...wish }, () => undefined);
  return new Subscriber(caller, subscriptionId);
}

/** Returns a path in the Realtime Database that only this test uses. */
export const newPath = (): string => `messages/m-${randomUUID()}/list`;

/** Writes several children in one update, without checks by the security rules. */
export async function write(path: string, children: object): Promise<void> {
  await (await realtimeDatabase()).ref(path).update(children);
}

/** Returns the data that the Realtime Database stores for a subscription. */
export async function kept({ log }: Pick<Subscriber, 'log'>) {
  const bus = await (await realtimeDatabase()).ref(busPath(log)).get();
  const entries = bus.child('log');
  return { exists: bus.exists(), lease: bus.child('watcher').val(), entries: entries.numChildren() };
}

/** A client that can poll through any instance. */
export class Subscriber {
  readonly readings: Reading[] = [];
  cursor: string | undefined;
  readonly caller: Caller;
  readonly subscriptionId: string;

  constructor(caller: Caller, subscriptionId: string) {
    this.caller = caller;
    this.subscriptionId = subscriptionId;
  }

  get from(): ReadFrom {
    return { subscriptionId: this.subscriptionId, cursor: this.cursor };
  }

  async poll(instance: Instance, waitMs = 0): Promise<Reading> {
    const reading = await instance.subscriptions.poll(this.caller, this.from, waitMs);
    this.cursor = reading.cursor;
    this.readings.push(reading);
    return reading;
  }

  /** Polls until `isEnough` returns true for the events received so far. */
  async until(instance: Instance, isEnough: (reported: readonly string[]) => boolean): Promise<readonly string[]> {
    return eventually('enough events', async () => {
      await this.poll(instance, 1000);
      return isEnough(this.told) ? this.told : undefined;
    });
  }

  /** Name of the subscription's change log. Each cursor starts with this name. */
  get log(): string {
    return String(this.cursor?.split('.')[0]);
  }

  /** Received events in short form, for example `a {"n":2} was {"n":1}`. */
  get told(): readonly string[] {
    return this.readings.flatMap(({ events }) =>
      events.map(({ event: { key, data, previousData } }) =>
        [key, canonicalJson(data), previousData !== undefined && `was ${canonicalJson(previousData)}`]
          .filter((part) => part !== undefined && part !== false)
          .join(' '),
      ),
    );
  }
}
