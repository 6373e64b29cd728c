/** Entries of many logs, and renewals of many leases, share an update, but each of them stays conditional. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { busPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { DatabaseEventLog } from '../../../functions/src/toolsets/firebase/store/eventLog.ts';
import { DatabaseWatcherLeases } from '../../../functions/src/toolsets/firebase/store/watcherLeases.ts';
import { unnoted } from '../../support/reading.ts';

const entryOf = (writer: string) => ({ sequence: 1, writer, transitions: [] });

describe('concurrent appends to many logs', () => {
  const logs = Array.from({ length: 9 }, () => `log-${randomUUID()}`);
  const events = new DatabaseEventLog({ database: realtimeDatabase, unreadable: unnoted });

  it('refuse only entries whose number is taken', async () => {
    const taken = logs.filter((_log, index) => index % 4 === 1);
    for (const log of taken) assert.equal(await events.append(log, entryOf('first')), true);
    const appended = await Promise.all(logs.map((log) => events.append(log, entryOf('second'))));
    const expected = logs.map((log) => !taken.includes(log));
    assert.deepEqual(appended, expected);
    const stored = await Promise.all(logs.map(async (log) => (await events.read(log, 1, 10))[0]?.writer));
    assert.deepEqual(
      stored,
      logs.map((log) => (taken.includes(log) ? 'first' : 'second')),
    );
  });

  it('accept only one writer of an entry', async () => {
    const log = `log-${randomUUID()}`;
    const writers = ['one', 'two', 'three'];
    const appended = await Promise.all(writers.map((writer) => events.append(log, entryOf(writer))));
    const [entry, ...others] = await events.read(log, 1, 10);
    assert.deepEqual(others, []);
    // After a lost response, the client sends the entry again.
    assert.equal(entry && (await events.append(log, entry)), true);
    const expected = writers.map((writer) => writer === entry?.writer);
    assert.deepEqual(appended, expected);
  });
});

describe('a lease that was deleted', () => {
  it('is not renewed by its former holder', async () => {
    const log = `log-${randomUUID()}`;
    const leases = new DatabaseWatcherLeases({ database: realtimeDatabase });
    const lease = { holder: 'holder', reading: true, renewed: new Date(1) };
    assert.equal(await leases.take(log, lease, () => true), true);
    const node = (await realtimeDatabase()).ref(`${busPath(log)}/watcher`);
    assert.equal(await leases.take(log, { ...lease, renewed: new Date(2) }, () => false, true), true);
    await node.remove();
    assert.equal(await leases.take(log, lease, () => false, true), false);
    assert.equal((await node.get()).exists(), false);
  });
});
