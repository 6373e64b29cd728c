/** Shards of the queue version of a session. When tasks become claimable, these documents change. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { countersPath, queueShardsPath, sessionPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { Session } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import { countSession } from '../../../scripts/rebuild/counters.ts';
import { Team, unkeyed } from './team.ts';

describe('queue version shards', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
  });

  async function open(): Promise<Session> {
    const found = await team.app.coordination.ports.sessions.current(team.workspace);
    assert.ok(found, 'no session is open');
    return found.session;
  }

  const sessionWrittenAt = async ({ id }: Session) =>
    (await firestore().doc(sessionPath(team.workspace, id)).get()).updateTime?.valueOf();

  const gatesOf = async ({ id }: Session) =>
    (await firestore().collection(queueShardsPath(team.workspace, id)).get()).docs;

  const shardsOf = async ({ id }: Session) =>
    (await firestore().collection(countersPath(team.workspace, id)).get()).docs;

  /** Sets a recent write time in every counter shard, so that the session counts as busy. */
  async function fill(session: Session): Promise<void> {
    for (let made = 0; (await shardsOf(session)).length < session.counter_shards; made++) {
      assert.ok(made < 400, '400 created tasks did not write every counter shard');
      await team.createOne();
    }
    const batch = firestore().batch();
    for (const { ref } of await shardsOf(session)) batch.update(ref, { last_activity: new Date() });
    await batch.commit();
  }

  it('are written instead of the session document when tasks become claimable', async () => {
    const ann = await team.join('ann');
    await team.createOne();
    const session = await open();
    const before = await sessionWrittenAt(session);
    const [first] = await team.create({}, {}, { dependencies: ['task-1'] });
    assert.ok(first);
    await team.claim(ann);
    await team.complete(ann, (await team.tasks()).find(({ status }) => status === 'claimed')?.id ?? '');
    assert.equal(await sessionWrittenAt(session), before);
    assert.equal((await gatesOf(session)).length, session.spread);
  });

  it('are deleted when their session is archived, and created again when it is reopened', async () => {
    const { services, kernel } = team.app;
    const { session } = await services.coordination.initialize(team.workspace, { goal: 'A goal' }, unkeyed);
    const grew = { kind: 'queueGrew' as const, session, capability_keys: [] };
    await kernel.store.commit([grew]);
    await services.coordination.initialize(team.workspace, { goal: 'Another goal' }, unkeyed);
    await assert.rejects(kernel.store.commit([grew]), StaleWriteError);
    assert.equal((await gatesOf(session)).length, 0);
    await services.coordination.archives.restore(team.workspace, session.id, unkeyed);
    await kernel.store.commit([grew]);
    assert.equal((await gatesOf(session)).length, session.spread);
  });

  it('double in number for a busy queue, as do the counters of a busy session', async () => {
    await team.createOne();
    const session = await open();
    await fill(session);
    await team.createOne();
    await team.app.services.sessionSpreading.checkLoad(team.workspace, session.id);
    const wider = await open();
    assert.equal(wider.spread, 2 * session.spread);
    assert.equal((await gatesOf(wider)).length, wider.spread);
    assert.equal(wider.counter_shards, 2 * session.counter_shards);
    await fill(wider);
    assert.deepEqual(await team.counts(), { available: (await team.tasks()).length });
    assert.equal((await shardsOf(wider)).length, wider.counter_shards);
  });

  it('are read by a claim, which queries the queue only if it has grown', async () => {
    const { sessions } = team.app.coordination.ports;
    const ann = await team.join('ann');
    await team.createOne();
    const growth = async () => (await sessions.currentWithAgent(team.workspace, ann)).growth;
    const before = await growth();
    assert.ok(before);
    await team.claim(ann);
    assert.equal(await growth(), before);
    await team.createOne();
    const after = await growth();
    assert.notEqual(after, before);
    const { session } = (await sessions.current(team.workspace)) ?? {};
    assert.ok(session);
    const sharded = { ...session, spread: 16 };
    const version = (await sessions.current(team.workspace))?.sessionVersion ?? '';
    await team.app.kernel.store.commit([{ kind: 'shardSession', session: sharded, before: session.spread, version }]);
    assert.equal(await growth(), undefined, 'with many shards, a query costs less');
  });

  it('end a wait for new tasks, even if a task was added between the claim and the wait', async () => {
    const { sessions, queue } = team.app.coordination.ports;
    await team.createOne();
    const before = await sessions.current(team.workspace);
    assert.ok(before);
    const growth = (readAt: string) => {
      let isOver = false;
      const waiting = queue
        .growth(team.workspace, { session: before.session.id, readAt }, AbortSignal.timeout(30_000))
        .then(() => {
          isOver = true;
        });
      return { waiting, isOver: () => isOver };
    };
    await team.createOne();
    await growth(before.readAt).waiting;

    const now = await sessions.current(team.workspace);
    assert.ok(now);
    const later = growth(now.readAt);
    const written = await sessionWrittenAt(now.session);
    // After this wait, both listeners have received the existing documents.
    await growth(before.readAt).waiting;
    assert.equal(later.isOver(), false);
    await team.createOne();
    await later.waiting;
    assert.equal(await sessionWrittenAt(now.session), written, 'the session document must not be written');
  });

  it('have no upper bounds if an earlier release wrote a counter, until a rebuild replaces it', async () => {
    const { app, workspace } = team;
    await team.create({ deadline: new Date(team.now.getTime() + 1000) }, { dependencies: ['task-1'] });
    team.pass(2);
    const session = await open();
    const [shard] = await shardsOf(session);
    assert.ok(shard);
    const { may_be_late: _, may_be_blocked: __, ...withoutBounds } = shard.data();
    // The last release writes the shards 0 to 63, and does not know the bounds.
    const earlier = shard.ref.parent.doc('0');
    await earlier.set(withoutBounds);
    await shard.ref.delete();
    const status = async () => {
      const { blocked, late, counters } = await app.services.coordination.status(workspace);
      return [blocked, late.count, counters.mostBlocked, counters.mostLate];
    };
    assert.deepEqual(await status(), [1, 1, Infinity, Infinity]);
    const ports = { ...app.coordination.ports, store: app.kernel.store, sweepRecord: app.system.ports.sweepRecord };
    const rebuilding = { database: firestore(), ports, isDry: false, say() {} };
    assert.equal(await countSession(rebuilding, workspace, session.id), true);
    assert.deepEqual(await status(), [1, 1, 1, 1]);
    assert.deepEqual([await team.counts(), (await shardsOf(session)).length], [{ available: 2 }, 1]);
    assert.equal(await countSession(rebuilding, workspace, session.id), false);
    await earlier.set({ ...withoutBounds, counts: {} });
    assert.deepEqual(await status(), [1, 1, Infinity, Infinity]);
  });

  it('keep their number if the session is not busy', async () => {
    await team.createOne();
    const session = await open();
    const shards = firestore().collection(queueShardsPath(team.workspace, session.id));
    const lastWrite = (await shards.get()).docs[0]?.updateTime.toMillis() ?? 0;
    while ((await shards.get()).readTime.toMillis() - lastWrite < 1100) await delay(50);
    await team.app.services.sessionSpreading.checkLoad(team.workspace, session.id);
    assert.equal((await open()).spread, session.spread);
  });
});
