/** Work of triggers whose events were dropped: the sweep does it within a day. No triggers run in this test. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Firestore } from '@google-cloud/firestore';
import { graphPath, personPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import {
  personAccessPath,
  queuedTaskPath,
  realtimeDatabase,
} from '../../../functions/src/kernel/realtime/database.ts';
import { sampleCodingWork } from '../../support/builders.ts';
import { turnAt } from '../../unit/kernel/turn.ts';
import { answer } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { Scene, Vendors } from '../lostAnswers/scene.ts';

const DAY_SECONDS = 86_400;

describe('work of triggers whose events were dropped', () => {
  /** A separate project, because the scan covers everything. */
  const database = new Firestore({ projectId: `demo-muster-repeat-${randomUUID().slice(0, 8)}` });
  const vendors = new Vendors();
  const scene = new Scene(vendors, database);
  const part = scene.app.retention.repeating(scene.app.services);
  after(() => Promise.all([database.terminate(), vendors.stop()]));

  const turn = (more = {}) => part.run(turnAt(scene.now, more));

  /** Runs one scan from start to end. */
  async function walk(): Promise<void> {
    scene.pass(DAY_SECONDS);
    await turn();
  }

  async function stored(path: string) {
    return (await database.doc(path).get()).data() ?? {};
  }

  async function shown(taskId: string): Promise<boolean> {
    const path = queuedTaskPath(scene.workspace, taskId);
    return (await (await realtimeDatabase()).ref(path).get()).exists();
  }

  const statusOf = async (taskId: string) => (await scene.task(taskId)).status;

  before(async () => {
    await vendors.start();
    const { workspace, leader } = scene;
    await scene.app.kernel.store.commit([
      { kind: 'nameWorkspace', workspace, access: 'open' },
      { kind: 'setPerson', uid: leader.owner_uid, role: 'leader' },
    ]);
  });

  it('mirrors claimable tasks and removes claimed ones from the mirror', async () => {
    const { id } = await scene.createOne();
    assert.equal(await shown(id), false);
    await walk();
    assert.equal(await shown(id), true);
    assert.equal(await scene.claim(await scene.join('claimer')), id);
    await walk();
    assert.equal(await shown(id), false);
    await scene.complete(scene.agentId('claimer'), id);
  });

  it('cancels an open task of a run that has ended', async () => {
    const runId = await scene.pendingRun();
    await answer(scene, 'orchestration_cancel_run', { runId });
    const { id } = await scene.createOne({ id: `${runId}-only-1` });
    await walk();
    assert.equal(await statusOf(id), 'cancelled');
  });

  it('cancels tasks of a person who lost their role, and updates the mirrored access', async () => {
    const uid = `leaver-${randomUUID()}`;
    const coding = () => sampleCodingWork({ owner_uid: uid, queue_ends_at: new Date('2050-01-01') });
    const { id } = await scene.createOne({ required_capabilities: ['claude'], coding });
    await database.doc(personPath(uid)).set({ role: 'none', workspaces: {} });
    await walk();
    assert.equal(await statusOf(id), 'cancelled');
    const mirror = await (await realtimeDatabase()).ref(personAccessPath(uid)).get();
    assert.deepEqual(mirror.val(), { role: { none: true } });
  });

  it('completes a task whose parts are done', async () => {
    const { principal, agent_id, task_id: whole } = await scene.holder();
    await scene.allow(agent_id, 2);
    const { id: last } = await scene.createOne({ part_of: { kind: 'task', id: whole } });
    const report = { agent_id, task_id: whole, output: 'Mine is done', when_parts_done: true };
    await answer(scene, 'coordination_complete_task', report, principal);
    assert.equal(await scene.claim(agent_id), last);
    await scene.complete(agent_id, last);
    assert.equal(await statusOf(whole), 'waiting');
    await walk();
    assert.equal(await statusOf(whole), 'done');
  });

  it('cancels the runs of a cancelled task', async () => {
    const { id } = await scene.createOne();
    const runId = await scene.pendingRun({ kind: 'task', id });
    await answer(scene, 'coordination_cancel_task', { task_id: id });
    assert.equal((await stored(graphPath(`run-${runId}`)))['status'], 'open');
    await walk();
    assert.equal((await scene.app.orchestration.ports.runs.find(runId))?.value.status, 'cancelled');
  });

  it('completes a to-do whose task is done', async () => {
    const todo = await addTodo('Water the plants');
    const { delegated } = await answer(scene, 'todo_delegate', { task_id: todo });
    const id = String(Object(delegated).task_id);
    assert.equal(await scene.claim(await scene.join('gardener')), id);
    await scene.complete(scene.agentId('gardener'), id);
    await walk();
    assert.equal((await stored(todoPath(todo)))['completed'], true);
  });

  it('creates the events of a to-do that was edited directly', async () => {
    const todo = await addTodo('Water the roses');
    await database.doc(todoPath(todo)).update({ title: 'Water the tulips' });
    await walk();
    const events = await database.collection('events').where('task_id', '==', todo).get();
    const types = events.docs.map((event) => event.get('event_type'));
    assert.deepEqual(types.sort(), ['created', 'updated']);
  });

  it('withdraws the question about a budget that was raised', async () => {
    const of = { kind: 'workspace', id: scene.workspace };
    await answer(scene, 'system_setBudget', { ...of, tokens: 0 });
    await scene.begin();
    await scene.order();
    await scene.ask('claim_task', {});
    await answer(scene, 'system_setBudget', { ...of, tokens: 10 });
    const asked = database.collection('requests').where('workspace', '==', scene.workspace);
    const states = async () => (await asked.get()).docs.map((request) => request.get('state'));
    assert.deepEqual(await states(), ['open']);
    await walk();
    assert.deepEqual(await states(), ['withdrawn']);
  });

  it('runs once a day, and continues in a later sweep at the position of the last one', async () => {
    scene.pass(DAY_SECONDS);
    let asked = 0;
    const first = await turn({ isOver: () => ++asked > 2 });
    const rest = await turn();
    const none = await turn();
    const [some = 0, more = 0] = [first, rest].map(({ counts }) => counts['looked']);
    assert.ok(some > 0 && more > some, `${some} and ${more}`);
    assert.deepEqual(none, { counts: { looked: 0 }, isBehind: false });
    scene.pass(DAY_SECONDS);
    assert.equal((await turn()).counts['looked'], some + more);
  });

  it('runs only in minutes divisible by five', async () => {
    scene.pass(DAY_SECONDS + 60);
    assert.equal((await turn()).counts['looked'], 0);
  });

  async function addTodo(title: string): Promise<string> {
    const draft = { title: `${title} of ${scene.workspace}` };
    return (await scene.app.services.todos.add(scene.leader.owner_uid, draft, unkeyed)).id;
  }
});
