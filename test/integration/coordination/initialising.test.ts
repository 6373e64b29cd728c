/** init_coordination: what a goal does to a workspace. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { archivedSessionPath, sessionPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { Initialised } from '../../../functions/src/toolsets/coordination/rules/coordination.ts';
import { Team, unkeyed } from './team.ts';

describe('initialising a coordination', () => {
  let team: Team;

  const initialise = (goal: string, plan?: string, app = team.app): Promise<Initialised> =>
    app.services.coordination.initialise(team.workspace, { goal, masterPlan: plan }, unkeyed);
  const session = () => team.app.services.coordination.session(team.workspace);

  beforeEach(() => {
    team = new Team();
  });

  it('opens a session with its goal and plan', async () => {
    const { session: opened, archived } = await initialise('Build an API', '1. Models');
    assert.equal(archived, undefined);
    assert.deepEqual(
      [opened.goal, opened.master_plan, opened.created_at],
      ['Build an API', '1. Models', team.now],
    );
    assert.deepEqual(await session(), opened);
  });

  it('keeps the session for the same goal, and takes a new plan', async () => {
    const { session: first } = await initialise('Build an API', '1. Models');
    team.pass(60);
    const again = await initialise('Build an API');
    assert.deepEqual(again, { session: first });
    const planned = await initialise('Build an API', '2. Endpoints');
    assert.deepEqual(planned, { session: { ...first, master_plan: '2. Endpoints' } });
    assert.deepEqual(await session(), planned.session);
  });

  it('gives its goal to a session that tasks have opened', async () => {
    const task = await team.createOne();
    await team.createOne();
    assert.equal((await session())?.goal, '');
    const { session: named, archived } = await initialise('Build an API', 'A plan');
    assert.deepEqual([named.id, archived], [task.session, undefined]);
    assert.deepEqual((await session())?.goal, 'Build an API');
    assert.deepEqual(await team.counts(), { available: 2 });
  });

  it('archives the old session for another goal', async () => {
    const { session: first } = await initialise('One');
    await team.create({}, {});
    const { session: second, archived } = await initialise('Two');
    assert.equal(archived?.session.id, first.id);
    assert.notEqual(second.id, first.id);
    assert.deepEqual(await team.tasks(), []);
    assert.deepEqual(await team.counts(), {});
    const kept = await firestore().doc(archivedSessionPath(team.workspace, first.id)).get();
    assert.equal(kept.get('goal'), 'One');
    const moved = await firestore().doc(sessionPath(team.workspace, first.id)).get();
    assert.equal(moved.exists, false);
  });

  it('takes the archived session’s tasks out of the queue, but not out of their holder’s hands', async () => {
    await initialise('One');
    const [first] = await team.create({}, {});
    const ann = await team.join('ann');
    assert.equal(await team.claim(ann), first?.id);
    await initialise('Two');
    assert.equal(await team.claim(ann), undefined, 'neither resumed nor given the other');
    const { id } = await team.createOne();
    assert.equal(await team.claim(ann), id, 'the old task does not count against the new ones');
    assert.ok(first);
    assert.equal((await team.complete(ann, first.id)).kind, 'accepted');
    assert.deepEqual(await team.counts(), { claimed: 1 });
  });

  it('finds the new session from an instance that remembers the old one', async () => {
    const other = team.anotherInstance();
    await initialise('One');
    await other.services.coordination.session(team.workspace);
    await initialise('Two');
    const seen = await other.services.coordination.session(team.workspace);
    assert.equal(seen?.goal, 'Two');
  });

  it('has one session left when several goals meet', async () => {
    const goals = ['One', 'Two', 'Three', 'Four'];
    const outcomes = await Promise.all(
      goals.map((goal) => initialise(goal, undefined, team.anotherInstance())),
    );
    const current = await session();
    const open = await firestore().collection(`workspaces/${team.workspace}/sessions`).listDocuments();
    assert.deepEqual(
      open.map((document) => document.id),
      [current?.id],
    );
    const archived = outcomes.flatMap((outcome) => outcome.archived?.session.id ?? []);
    assert.equal(new Set(archived).size, 3, 'each but the first has archived the one before');
    assert.equal(new Set(outcomes.map((outcome) => outcome.session.id)).size, 4);
  });

  it('gives a nameless session to one of two goals only', async () => {
    await team.createOne();
    const outcomes = await Promise.all(
      ['One', 'Two'].map((goal) => initialise(goal, undefined, team.anotherInstance())),
    );
    const archived = outcomes.flatMap((outcome) => outcome.archived ?? []);
    assert.equal(archived.length, 1, 'the second goal archives the first one’s session');
  });

  it('leaves other workspaces alone', async () => {
    const other = new Team();
    await other.createOne();
    await initialise('One');
    await initialise('Two');
    assert.deepEqual(await other.counts(), { available: 1 });
  });
});
