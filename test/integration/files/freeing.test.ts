/** Every way in which a task leaves its holder frees its files, and ends the waits for them. */
import assert from 'node:assert/strict';
import { answer } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { FileTeam } from './fixture.ts';

const FILES = ['src/auth/**'];
const DONE = { kind: 'done', result: { output: 'Made it' } } as const;

/** Ways of a task that `ann` holds. */
const WAYS: Readonly<Record<string, (team: FileTeam, ann: string, id: string) => Promise<unknown>>> = {
  'it is completed': (team, ann, id) => team.complete(ann, id),
  'it is completed as soon as its parts are done': async (team, ann, id) => {
    await team.createOne({ part_of: { kind: 'task', id } });
    await team.settle(ann, id, { ...DONE, whenPartsDone: true });
  },
  'it failed': (team, ann, id) => team.fail(ann, id),
  'it failed and is retried': (team, ann, id) => team.fail(ann, id, true),
  'it is released': (team, _ann, id) => answer(team, 'coordination_release_task', { task_id: id }),
  'it is cancelled': (team, _ann, id) => answer(team, 'coordination_cancel_task', { task_id: id }),
  'its pull request is merged': (team, _ann, id) => team.app.services.taskQueue.finish(id, { output: 'Merged' }),
  'its lease expired': async (team, ann) => {
    team.pass(7200);
    await team.app.access.ports.presence.remove(ann, team.now);
    await team.sweep();
  },
  'its claim is undone': (team) => undoLatest(team),
};

async function undoLatest(team: FileTeam): Promise<void> {
  const { events } = await answer(team, 'system_getAudit', { of: 'workspace', limit: 1 });
  await answer(team, 'system_undo', { event_id: Object(events)[0].event_id });
}

const CODING_WAYS: Readonly<Record<string, (team: FileTeam, id: string) => Promise<unknown>>> = {
  'its runner ended it': (team, taskId) => team.ask('end_task', { taskId, epoch: 1, status: 'completed' }),
  'its runner returned it': (team, taskId) =>
    team.ask('end_task', {
      taskId,
      epoch: 1,
      status: 'failed',
      failure: { class: 'rate_limit', message: 'Later', returnAfterSeconds: 30 },
    }),
  'its runner failed at it': (team, taskId) =>
    team.ask('end_task', { taskId, epoch: 1, status: 'failed', failure: { class: 'crashed', message: 'Broken' } }),
  'its creator ended it': (team, taskId) => team.ask('end_task', { taskId, status: 'completed' }, team.creator),
  'its runner is offline': async (team) => {
    team.pass(7200);
    await team.sweep();
  },
  'its owner lost access': async (team) => {
    const { owner_uid: uid } = team.creator;
    await team.app.coordination.codingLeaving.end(uid, { isOut: () => true, isRemoved: () => true });
  },
};

describe('the files of a task are free when', () => {
  let team: FileTeam;
  let ann: string;
  let bob: string;

  beforeEach(async () => {
    team = new FileTeam();
    ann = await team.join('ann');
    bob = await team.join('bob');
  });

  for (const [why, leave] of Object.entries(WAYS))
    it(why, async () => {
      const [first = '', second = ''] = await team.naming(FILES, FILES);
      assert.equal(Object((await team.asksFor(ann))['task']).id, first);
      assert.equal(await team.claim(bob), undefined);
      await team.followed(first, () => leave(team, ann, first));
      assert.deepEqual([(await team.task(first)).files_held, await team.entries(first)], [false, {}]);
      const { blockers, files_wait, retry_at } = await team.task(second);
      assert.deepEqual([blockers, files_wait, retry_at], [0, undefined, undefined]);
      await team.assertBooks();
    });

  for (const [why, leave] of Object.entries(CODING_WAYS))
    it(`${why}, for a coding task`, async () => {
      await team.begin();
      const first = await team.order({ context_files: FILES });
      team.pass(1);
      const second = await team.order({ context_files: FILES });
      await team.allow(team.agentId('runner'), 2);
      assert.equal((await team.take())['id'], first);
      assert.equal((await team.ask('claim_task', {}))['task'], null);
      await team.followed(first, () => leave(team, first));
      assert.deepEqual([(await team.task(first)).files_held, await team.entries(first)], [false, {}]);
      assert.equal((await team.task(second)).files_wait, undefined);
    });

  it('its session with the task of a run is archived', async () => {
    const { coordination } = team.app.services;
    await coordination.initialize(team.workspace, { goal: 'One' }, unkeyed);
    const { id } = await team.createOne({ id: `run-${team.workspace}-1`, files: FILES });
    await team.claim(ann);
    assert.deepEqual(Object.keys(await team.entries(id)), [id]);
    await coordination.initialize(team.workspace, { goal: 'Another' }, unkeyed);
    assert.deepEqual([(await team.task(id)).status, await team.entries(id)], ['cancelled', {}]);
  });

  it('an instance of the last release completed it, which left the reservation behind', async () => {
    const [first = '', second = ''] = await team.naming(FILES, FILES);
    await team.claim(ann);
    await team.claim(bob);
    await team.followed(first, async () => team.completeAsBefore(first));
    assert.deepEqual([(await team.task(first)).files_held, await team.entries(first)], [false, {}]);
    await team.app.services.fileWaits.taskWritten(first, await team.document(second), undefined);
    await team.assertBooks();
  });
});

describe('the wait for files', () => {
  let team: FileTeam;
  let first: string;
  let second: string;
  let ann: string;
  let bob: string;

  beforeEach(async () => {
    team = new FileTeam();
    ann = await team.join('ann');
    bob = await team.join('bob');
    [first = '', second = ''] = await team.naming(FILES, FILES);
    await team.claim(ann);
    await team.claim(bob);
  });

  it('ends once if the trigger is called twice, late, or out of order', async () => {
    const held = await team.document(first);
    await team.complete(ann, first);
    const freed = await team.document(first);
    const { fileWaits } = team.app.services;
    await fileWaits.taskWritten(first, undefined, held);
    assert.equal((await team.task(second)).blockers, 1);
    await Promise.all([fileWaits.taskWritten(first, held, freed), fileWaits.taskWritten(first, held, freed)]);
    assert.equal((await team.task(second)).blockers, 0);
    assert.equal(await team.claim(bob), second);
    await fileWaits.taskWritten(first, held, freed);
    const { status, files_held } = await team.task(second);
    assert.deepEqual([status, files_held], ['claimed', true]);
    await team.assertBooks();
  });

  it('wakes the claims that wait for a task', async () => {
    const { taskClaims } = team.app.services;
    const request = { workspace: team.workspace, agentId: bob, leaseSeconds: 60, by: { uid: `agent:${bob}` } };
    const poll = { disconnectSignal: () => new AbortController().signal, trackWait: <T>(wait: Promise<T>) => wait };
    const waiting = taskClaims.claimOrWait(request, 30_000, poll, unkeyed);
    await team.followed(first, () => team.complete(ann, first));
    const outcome = await waiting;
    assert.equal(outcome.kind === 'claimed' && outcome.task.id, second);
  });

  it('ends with the sweep after ten minutes if the trigger is lost', async () => {
    await team.complete(ann, first);
    team.pass(600);
    await team.sweep();
    assert.equal((await team.task(second)).blockers, 0);
  });

  it('counts from the first refusal for a task that waits for the next holder', async () => {
    const eve = await team.join('eve');
    team.pass(300);
    const [third = ''] = await team.naming(FILES);
    assert.equal(await team.claim(eve), undefined);
    await team.followed(first, () => team.complete(ann, first));
    assert.equal(await team.claim(bob), second);
    assert.equal(await team.claim(eve), undefined);
    const { files_wait, retry_at } = await team.task(third);
    assert.deepEqual([files_wait, retry_at], [second, new Date(team.now.getTime() + 600_000)]);
  });

  it('ends without a trace when the task is cancelled', async () => {
    await answer(team, 'coordination_cancel_task', { task_id: second });
    const { blockers, files_wait, files_since, retry_at } = await team.task(second);
    assert.deepEqual([blockers, files_wait, files_since, retry_at], [0, undefined, undefined, undefined]);
  });
});

describe('a holder that gets its task back takes the files again', () => {
  let team: FileTeam;

  beforeEach(() => {
    team = new FileTeam();
  });

  it('when the completion is undone', async () => {
    const ann = await team.join('ann');
    const [first = ''] = await team.naming(FILES);
    await team.claim(ann);
    await answer(
      team,
      'coordination_complete_task',
      { agent_id: ann, task_id: first, output: 'x' },
      team.principal('ann'),
    );
    team.pass(1);
    await undoLatest(team);
    const { status, files_held } = await team.task(first);
    assert.deepEqual([status, files_held, Object.keys(await team.entries(first))], ['claimed', true, [first]]);
    await team.assertBooks();
  });

  it('when a heartbeat restores its expired lease, although another task has them now', async () => {
    await team.begin();
    const first = await team.order({ context_files: FILES });
    await team.take();
    team.pass(7200);
    await team.sweep();
    const [second = ''] = await team.naming(FILES);
    assert.equal(await team.claim(await team.join('ann')), second);
    await team.ask('heartbeat_task', { taskId: first, epoch: 1 });
    assert.deepEqual(Object.keys(await team.entries(first)).sort(), [first, second].sort());
    await team.assertBooks();
  });
});
