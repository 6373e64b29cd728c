/** What says that more can be claimed: a session's gates, over as many documents as its load asks for. */
import assert from 'node:assert/strict';
import { StaleWriteError } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import {
  archivedSessionPath,
  countersPath,
  gatesPath,
  sessionPath,
} from '../../../functions/src/kernel/firestore/paths.ts';
import type { Session } from '../../../functions/src/toolsets/coordination/rules/session.ts';
import { Team, unkeyed } from './team.ts';

describe('the gates of a session', () => {
  let team: Team;

  beforeEach(() => {
    team = new Team();
  });

  async function open(): Promise<Session> {
    const found = await team.app.ports.sessions.current(team.workspace);
    assert.ok(found, 'a session is open');
    return found.session;
  }

  const sessionWrittenAt = async ({ id }: Session) =>
    (await firestore().doc(sessionPath(team.workspace, id)).get()).updateTime?.valueOf();

  const gatesOf = async ({ id }: Session) =>
    (await firestore().collection(gatesPath(team.workspace, id)).get()).docs;

  const shardsOf = async ({ id }: Session) =>
    (await firestore().collection(countersPath(team.workspace, id)).get()).docs;

  /** Takes its gates away: what version 0.2.0 has opened. */
  async function asOfOld(session: Session): Promise<void> {
    for (const { ref } of await gatesOf(session)) await ref.delete();
    await firestore().doc(sessionPath(team.workspace, session.id)).update({ spread: 0 });
  }

  /** Has every counter written a moment ago, however slow the machine is. */
  async function fill(session: Session): Promise<void> {
    for (let made = 0; (await shardsOf(session)).length < session.spread; made++) {
      assert.ok(made < 400, 'chance writes all of them');
      await team.createOne();
    }
    const batch = firestore().batch();
    for (const { ref } of await shardsOf(session)) batch.update(ref, { last_activity: new Date() });
    await batch.commit();
  }

  it('are written in place of its document by whatever adds to the queue', async () => {
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

  it('are closed with the session: nothing is put into an archived one, and opened with it again', async () => {
    const { services, ports } = team.app;
    const { session } = await services.coordination.initialise(team.workspace, 'A goal', undefined, unkeyed);
    const grew = { kind: 'queueGrew' as const, session, capabilityKeys: [] };
    await ports.store.commit([grew]);
    await services.coordination.initialise(team.workspace, 'Another goal', undefined, unkeyed);
    await assert.rejects(ports.store.commit([grew]), StaleWriteError);
    assert.equal((await gatesOf(session)).length, 0);
    await services.coordination.archives.reopen(team.workspace, session.id, unkeyed);
    await ports.store.commit([grew]);
    assert.equal((await gatesOf(session)).length, session.spread);
  });

  it('are opened again although version 0.2.0 has archived the session without them', async () => {
    const { services, ports } = team.app;
    const { session } = await services.coordination.initialise(team.workspace, 'A goal', undefined, unkeyed);
    await services.coordination.initialise(team.workspace, 'Another goal', undefined, unkeyed);
    for (let gate = 0; gate < session.spread; gate++)
      await firestore()
        .doc(`${gatesPath(team.workspace, session.id)}/${gate}`)
        .set({ grown_at: new Date() });
    await services.coordination.archives.reopen(team.workspace, session.id, unkeyed);
    await ports.store.commit([{ kind: 'queueGrew', session, capabilityKeys: [] }]);
    assert.equal(
      (await firestore().doc(archivedSessionPath(team.workspace, session.id)).get()).exists,
      false,
    );
  });

  it('grow where the session is busy, and nothing is counted twice or lost', async () => {
    await team.createOne();
    const session = await open();
    await fill(session);
    await team.app.services.sessionSpreading.look(team.workspace, session.id);
    const wider = await open();
    assert.equal(wider.spread, 2 * session.spread);
    assert.equal((await gatesOf(wider)).length, wider.spread);
    await fill(wider);
    assert.deepEqual(await team.counts(), { available: (await team.tasks()).length });
    assert.equal((await shardsOf(wider)).length, wider.spread);
  });

  it('wake whoever waits for more, also what came between the claim and the waiting', async () => {
    const { sessions, codingTasks } = team.app.ports;
    await team.createOne();
    const before = await sessions.current(team.workspace);
    assert.ok(before);
    const growth = (readAt: string) => {
      let isOver = false;
      const waiting = codingTasks
        .queueGrowth(team.workspace, { session: before.session.id, readAt }, AbortSignal.timeout(30_000))
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
    // Long enough for both listeners to have told of what is there already.
    await growth(before.readAt).waiting;
    assert.equal(later.isOver(), false);
    await team.createOne();
    await later.waiting;
    assert.equal(await sessionWrittenAt(now.session), written, 'it was a gate that told');
  });

  it('stay as they are where it is not', async () => {
    await team.createOne();
    const session = await open();
    await team.app.services.sessionSpreading.look(team.workspace, session.id);
    assert.equal((await open()).spread, session.spread);
  });

  it('are not there in a session of version 0.2.0, whose document says it, until it is busy', async () => {
    const ann = await team.join('ann');
    await team.createOne();
    const session = await open();
    await asOfOld(session);
    const old = await open();
    assert.equal(old.spread, 0);
    const before = await sessionWrittenAt(old);
    await team.createOne();
    assert.notEqual(await sessionWrittenAt(old), before, 'instances of version 0.2.0 hear of it');
    assert.ok(await team.claim(ann));
    await fill(session);
    await team.app.services.sessionSpreading.look(team.workspace, old.id);
    const spread = await open();
    assert.deepEqual([spread.spread, (await gatesOf(spread)).length], [8, 8]);
    await team.createOne();
    assert.equal((await open()).queueVersion, spread.queueVersion);
  });
});
