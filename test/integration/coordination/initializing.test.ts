import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { archivedSessionPath, sessionPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { InitializedSession } from '../../../functions/src/toolsets/coordination/rules/coordination.ts';
import { Team, unkeyed } from './team.ts';

describe('init_coordination', () => {
  let team: Team;

  const initialize = (goal: string, plan?: string, app = team.app): Promise<InitializedSession> =>
    app.services.coordination.initialize(team.workspace, { goal, masterPlan: plan }, unkeyed);
  const session = () => team.app.services.coordination.session(team.workspace);

  beforeEach(() => {
    team = new Team();
  });

  it('creates a session with its goal and plan', async () => {
    const { session: opened, archived } = await initialize('Build an API', '1. Models');
    assert.equal(archived, undefined);
    assert.deepEqual([opened.goal, opened.master_plan, opened.created_at], ['Build an API', '1. Models', team.now]);
    assert.deepEqual(await session(), opened);
  });

  it('keeps the session and stores the new plan if the goal is equal', async () => {
    const { session: first } = await initialize('Build an API', '1. Models');
    team.pass(60);
    const again = await initialize('Build an API');
    assert.deepEqual(again, { session: first });
    const planned = await initialize('Build an API', '2. Endpoints');
    assert.deepEqual(planned, { session: { ...first, master_plan: '2. Endpoints' } });
    assert.deepEqual(await session(), planned.session);
  });

  it('sets the goal of a session that was opened without a goal by the creation of a task', async () => {
    const task = await team.createOne();
    await team.createOne();
    assert.equal((await session())?.goal, '');
    const { session: named, archived } = await initialize('Build an API', 'A plan');
    assert.deepEqual([named.id, archived], [task.session, undefined]);
    assert.deepEqual((await session())?.goal, 'Build an API');
    assert.deepEqual(await team.counts(), { available: 2 });
  });

  it('archives the previous session if the goal is different', async () => {
    const { session: first } = await initialize('One');
    await team.create({}, {});
    const { session: second, archived } = await initialize('Two');
    assert.equal(archived?.session.id, first.id);
    assert.notEqual(second.id, first.id);
    assert.deepEqual(await team.tasks(), []);
    assert.deepEqual(await team.counts(), {});
    const kept = await firestore().doc(archivedSessionPath(team.workspace, first.id)).get();
    assert.equal(kept.get('goal'), 'One');
    const moved = await firestore().doc(sessionPath(team.workspace, first.id)).get();
    assert.equal(moved.exists, false);
  });

  it('removes tasks of the archived session from the queue, but lets holders complete them', async () => {
    await initialize('One');
    const [first] = await team.create({}, {});
    const ann = await team.join('ann');
    assert.equal(await team.claim(ann), first?.id);
    await initialize('Two');
    assert.equal(await team.claim(ann), undefined, 'no task of the archived session is returned, held or not');
    const { id } = await team.createOne();
    assert.equal(await team.claim(ann), id, 'a held task of the archived session does not count as held');
    assert.ok(first);
    assert.equal((await team.complete(ann, first.id)).kind, 'accepted');
    assert.deepEqual(await team.counts(), { claimed: 1 });
  });

  it('returns the new session on an instance that has cached the previous session', async () => {
    const other = team.anotherInstance();
    await initialize('One');
    await other.services.coordination.session(team.workspace);
    await initialize('Two');
    const seen = await other.services.coordination.session(team.workspace);
    assert.equal(seen?.goal, 'Two');
  });

  it('leaves one session open after concurrent calls with different goals', async () => {
    const goals = ['One', 'Two', 'Three', 'Four'];
    const outcomes = await Promise.all(goals.map((goal) => initialize(goal, undefined, team.anotherInstance())));
    const current = await session();
    const open = await firestore().collection(`workspaces/${team.workspace}/sessions`).listDocuments();
    const ids = open.map((document) => document.id);
    assert.deepEqual(ids, [current?.id]);
    const archived = outcomes.flatMap((outcome) => outcome.archived?.session.id ?? []);
    assert.equal(new Set(archived).size, 3, 'each call except the first archived the previous session');
    assert.equal(new Set(outcomes.map((outcome) => outcome.session.id)).size, 4);
  });

  it('lets only one of two concurrent calls set the goal of a session without a goal', async () => {
    await team.createOne();
    const outcomes = await Promise.all(
      ['One', 'Two'].map((goal) => initialize(goal, undefined, team.anotherInstance())),
    );
    const archived = outcomes.flatMap((outcome) => outcome.archived ?? []);
    assert.equal(archived.length, 1, 'the second goal archives the session of the first');
  });

  it('does not change other workspaces', async () => {
    const other = new Team();
    await other.createOne();
    await initialize('One');
    await initialize('Two');
    assert.deepEqual(await other.counts(), { available: 1 });
  });
});
