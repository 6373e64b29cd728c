/** The sweep relays events for which the trigger has failed. Without such events, the sweep reads little. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Firestore } from '@google-cloud/firestore';
import { relayJob } from '../../../functions/src/composition/reconciliation.ts';
import type { SweepContext } from '../../../functions/src/kernel/sweep.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { silent } from '../coordination/team.ts';

const NOW = new Date('2026-11-22T09:30:00Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe('events that were not relayed', () => {
  /** A separate database, because the sweep relays events of all owners. */
  const database = new Firestore({ projectId: `demo-muster-relay-${randomUUID().slice(0, 8)}` });
  after(() => database.terminate());
  let relayed: string[] = [];

  beforeEach(async () => {
    relayed = [];
    for (const one of ['events', 'audit']) await database.recursiveDelete(database.collection(one));
  });

  const arrive = (id: string, at: number) =>
    database.doc(`audit/${id}`).set({ event_id: id, timestamp: new Date(NOW.getTime() - at) });

  async function happen(id: string, at: number, hasArrived = false): Promise<void> {
    await database.doc(`events/${id}`).set({ event_id: id, timestamp: new Date(NOW.getTime() - at) });
    if (hasArrived) await arrive(id, at);
  }

  const part = relayJob(
    database,
    silent,
  )(async (id) => {
    relayed.push(id);
    const { timestamp } = (await database.doc(`events/${id}`).get()).data() ?? {};
    await database.doc(`audit/${id}`).set({ event_id: id, timestamp });
  });

  const run = (more: Partial<SweepContext> = {}, now = NOW) => part.run(sweepContextAt(now, more));

  it('are relayed once if they are less than seven days old and if the trigger is overdue', async () => {
    await happen('old', 8 * DAY);
    for (let day = 0; day < 7; day++) {
      await happen(`arrived-${day}`, day * DAY + 40 * MINUTE, true);
      await happen(`missing-${day}`, day * DAY + 41 * MINUTE);
    }
    await happen('on-its-way', MINUTE);
    assert.deepEqual((await run()).counts, { relayed: 7 });
    const expected = [0, 1, 2, 3, 4, 5, 6].map((day) => `missing-${day}`);
    assert.deepEqual(relayed.sort(), expected);
    assert.deepEqual(await run(), { counts: { relayed: 0 }, isBehind: false });
    assert.equal(relayed.length, 7);
  });

  it('are all relayed, even if the sweep has to stop and a later sweep continues', async () => {
    const writer = database.bulkWriter();
    for (let number = 0; number < 450; number++)
      void writer.set(database.doc(`events/e-${number}`), { timestamp: new Date(NOW.getTime() - DAY - number) });
    await writer.close();
    let looked = 0;
    const first = await run({ isOver: () => looked++ > 300 });
    assert.equal(first.isBehind, true);
    assert.ok(first.stoppedAt && relayed.length > 0 && relayed.length < 450, `${relayed.length}`);
    const later = new Date(NOW.getTime() + MINUTE);
    const second = await run({ from: first.stoppedAt }, later);
    assert.equal(second.isBehind, false);
    assert.equal(new Set(relayed).size, 450);
    assert.equal(relayed.length, 450);
  });

  it('do not block later events if relaying them fails, and are relayed an hour later', async () => {
    for (const [id, age] of [
      ['broken', 2 * DAY],
      ['later', DAY],
    ] as const)
      await happen(id, age);
    const tried: string[] = [];
    const failing = relayJob(
      database,
      silent,
    )(async (id) => {
      tried.push(id);
      throw new Error('away');
    });
    for (const hours of [0, 1]) {
      const { isBehind, counts } = await failing.run(sweepContextAt(new Date(NOW.getTime() + hours * 60 * MINUTE)));
      assert.deepEqual([isBehind, counts['relayed']], [false, 0]);
    }
    assert.deepEqual(tried, ['broken', 'later', 'broken', 'later']);
  });

  it('are relayed only by sweeps in one particular minute of each hour', async () => {
    await happen('missing', DAY);
    await run({}, new Date(NOW.getTime() + MINUTE));
    assert.deepEqual(relayed, []);
  });
});
