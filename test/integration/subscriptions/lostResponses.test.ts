/** If a compare-and-set in the Realtime Database loses its response, the writer still finds out that it succeeded. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type App, deleteApp, getApps, initializeApp } from 'firebase-admin/app';
import { type Database, getDatabase, type Reference } from 'firebase-admin/database';
import { DatabasePresence } from '../../../functions/src/agents/store/presence.ts';
import { systemClock, systemRandomness } from '../../../functions/src/kernel/platform.ts';
import { BusWrites, busPath, firebaseApp, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { DatabaseEventLog } from '../../../functions/src/toolsets/firebase/store/eventLog.ts';
import { DatabaseWatcherLeases } from '../../../functions/src/toolsets/firebase/store/watcherLeases.ts';
import { DatabaseDeliveries } from '../../../functions/src/toolsets/todo/store/notifications.ts';
import { eventually } from '../../e2e/support/waiting.ts';
import { unnoted } from '../../support/reading.ts';
import { type Proxy as DatabaseProxy, openProxy, withDatabaseAt } from '../data/realtimeReach.ts';

describe('a compare-and-set with a lost response', () => {
  let proxy: DatabaseProxy;
  let app: App;
  let log: string;
  let database: () => Promise<Database>;

  beforeEach(async () => {
    log = `log-${randomUUID()}`;
    proxy = await openProxy(process.env['FIREBASE_DATABASE_EMULATOR_HOST'] ?? '');
    app = initializeApp(firebaseApp().options, `lossy-${randomUUID()}`);
    const reached = await withDatabaseAt(proxy.host, async () => getDatabase(app));
    await reached.ref('anything').get(); // Waits until the connection is open.
    database = async () => reached;
  });

  afterEach(async () => {
    proxy.close();
    const opened = getApps().filter(({ name }) => name.endsWith(app.name));
    await Promise.all(opened.map(deleteApp));
  });

  const there = async (path: string): Promise<unknown> => (await (await realtimeDatabase()).ref(path).get()).val();

  /** Runs `work`, and drops the response to its compare-and-set. Closes the connection when `isDone` returns true. */
  async function losing<T>(work: () => Promise<T>, isDone: () => Promise<boolean>): Promise<T> {
    const own = (await database()).ref();
    const prototype: Pick<Reference, 'transaction' | 'update'> = Object.getPrototypeOf(own);
    const { transaction, update } = prototype;
    const silence = (reference: Reference): void => {
      // Other work of this process does not use the proxy.
      if (String(reference.root) !== String(own)) return;
      Object.assign(prototype, { transaction, update });
      proxy.silence();
    };
    prototype.transaction = function (this: Reference, ...given) {
      silence(this);
      return transaction.apply(this, given);
    };
    prototype.update = function (this: Reference, ...given) {
      silence(this);
      return update.apply(this, given);
    };
    const outcome = work();
    await eventually('the write is applied', async () => (await isDone()) || undefined);
    proxy.cut();
    return outcome;
  }

  const has = (path: string) => async () => (await there(path)) !== null;

  it('appends a log entry once, and reports success to the writer', async () => {
    const bus = await withDatabaseAt(proxy.host, () => new BusWrites({ database }).connect());
    await new Promise<void>((resolve) => {
      bus.root.child('.info/connected').on('value', (connected) => connected.val() === true && resolve());
    });
    const events = new DatabaseEventLog({ database, unreadable: unnoted });
    const entry = { sequence: 1, writer: 'writer', transitions: [] };
    const appended = await losing(() => events.append(log, entry), has(`${busPath(log)}/log`));
    assert.equal(appended, true);
    assert.deepEqual(await events.read(log, 0, 10), [entry]);
    assert.equal(await events.append(log, { ...entry, writer: 'another' }), false);
  });

  it('acquires a lease, which is deleted when the new connection ends', async () => {
    const leases = new DatabaseWatcherLeases({ database });
    const lease = { holder: 'holder', reading: true, renewed: new Date() };
    const path = `${busPath(log)}/watcher`;
    const mine = (current: { readonly holder: string } | undefined) =>
      current === undefined || current.holder === lease.holder;
    assert.equal(await losing(() => leases.take(log, lease, mine), has(path)), true);
    const other = { ...lease, holder: 'another' };
    assert.equal(await leases.take(log, other, (current) => current === undefined), false);
    await (await database()).ref('anything').get(); // After this response, the server has the new connection's `onDisconnect` write.
    proxy.cut();
    await eventually('the lease is deleted', async () => (await there(path)) === null || undefined);
  });

  it('claims a delivery once, and reports success to the claiming instance', async () => {
    const deliveries = new DatabaseDeliveries({ database, clock: systemClock, randomness: systemRandomness });
    const path = `deliveries/${log}/devices/phone`;
    assert.equal(await losing(() => deliveries.claim(log, 'phone'), has(path)), 'claimed');
    assert.match(String(await there(path)), /^\d{13} \S+$/, 'the node contains the end of the claim and its holder');
    const others = new DatabaseDeliveries({
      database: realtimeDatabase,
      clock: systemClock,
      randomness: systemRandomness,
    });
    assert.equal(await others.claim(log, 'phone'), 'busy');
  });

  it('removes a presence, and reports success to the sweep', async () => {
    const presence = new DatabasePresence({ database, clock: systemClock });
    const path = `presence/${log}`;
    await (await realtimeDatabase()).ref(path).set({ last_seen: 1 });
    // The client has a listener, so it already knows the value, and its first attempt succeeds.
    const node = (await database()).ref(path);
    await new Promise((resolve) => node.on('value', resolve));
    const forgotten = losing(
      () => presence.remove(log, new Date(1000)),
      async () => !(await has(path)()),
    );
    assert.equal(await forgotten, true);
  });
});
