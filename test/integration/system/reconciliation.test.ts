/** If the event for a trigger is dropped, the sweep does the trigger's work within a day. No triggers run here. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Firestore } from '@google-cloud/firestore';
import { graphPath, personPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { personAccessPath, queuedTaskPath, realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import { sampleCodingWork } from '../../support/builders.ts';
import { sweepContextAt } from '../../unit/kernel/sweepContext.ts';
import { answer } from '../coordination/calls.ts';
import { unkeyed } from '../coordination/team.ts';
import { LostResponseFixture, Vendors } from '../lostResponses/fixture.ts';

const DAY_SECONDS = 86_400;

describe('the daily scan for dropped trigger events', () => {
  /** A separate project, because the scan reads all documents of a project. */
  const database = new Firestore({ projectId: `demo-muster-repeat-${randomUUID().slice(0, 8)}` });
  const vendors = new Vendors();
  const fixture = new LostResponseFixture(vendors, database);
  const part = fixture.app.retention.repeating(fixture.app.services);
  after(() => Promise.all([database.terminate(), vendors.stop()]));

  const turn = (more = {}) => part.run(sweepContextAt(fixture.now, more));

  /** Runs one scan from start to end. */
  async function walk(): Promise<void> {
    fixture.pass(DAY_SECONDS);
    await turn();
  }

  async function stored(path: string) {
    return (await database.doc(path).get()).data() ?? {};
  }

  async function shown(taskId: string): Promise<boolean> {
    const path = queuedTaskPath(fixture.workspace, taskId);
    return (await (await realtimeDatabase()).ref(path).get()).exists();
  }

  const statusOf = async (taskId: string) => (await fixture.task(taskId)).status;

  before(async () => {
    await vendors.start();
    const { workspace, leader } = fixture;
    await fixture.app.kernel.store.commit([
      { kind: 'nameWorkspace', workspace, access: 'open' },
      { kind: 'setPerson', uid: leader.owner_uid, role: 'leader' },
    ]);
  });

  it('mirrors claimable tasks, and removes claimed tasks from the mirror', async () => {
    const { id } = await fixture.createOne();
    assert.equal(await shown(id), false);
    await walk();
    assert.equal(await shown(id), true);
    assert.equal(await fixture.claim(await fixture.join('claimer')), id);
    await walk();
    assert.equal(await shown(id), false);
    await fixture.complete(fixture.agentId('claimer'), id);
  });

  it('cancels an open task of a run that has ended', async () => {
    const runId = await fixture.pendingRun();
    await answer(fixture, 'orchestration_cancel_run', { runId });
    const { id } = await fixture.createOne({ id: `${runId}-only-1` });
    await walk();
    assert.equal(await statusOf(id), 'cancelled');
  });

  it('cancels tasks of a person who lost the role, and updates the mirrored access', async () => {
    const uid = `leaver-${randomUUID()}`;
    const coding = () => sampleCodingWork({ owner_uid: uid, queue_ends_at: new Date('2050-01-01') });
    const { id } = await fixture.createOne({ required_capabilities: ['claude'], coding });
    await database.doc(personPath(uid)).set({ role: 'none', workspaces: {} });
    await walk();
    assert.equal(await statusOf(id), 'cancelled');
    const mirror = await (await realtimeDatabase()).ref(personAccessPath(uid)).get();
    assert.deepEqual(mirror.val(), { role: { none: true } });
  });

  it('completes a task whose parts are done', async () => {
    const { principal, agent_id, task_id: whole } = await fixture.holder();
    await fixture.allow(agent_id, 2);
    const { id: last } = await fixture.createOne({ part_of: { kind: 'task', id: whole } });
    const report = { agent_id, task_id: whole, output: 'Mine is done', when_parts_done: true };
    await answer(fixture, 'coordination_complete_task', report, principal);
    assert.equal(await fixture.claim(agent_id), last);
    await fixture.complete(agent_id, last);
    assert.equal(await statusOf(whole), 'waiting');
    await walk();
    assert.equal(await statusOf(whole), 'done');
  });

  it('cancels the runs of a cancelled task', async () => {
    const { id } = await fixture.createOne();
    const runId = await fixture.pendingRun({ kind: 'task', id });
    await answer(fixture, 'coordination_cancel_task', { task_id: id });
    assert.equal((await stored(graphPath(`run-${runId}`)))['status'], 'open');
    await walk();
    assert.equal((await fixture.app.orchestration.ports.runs.find(runId))?.value.status, 'cancelled');
  });

  it('completes a to-do whose task is done', async () => {
    const todo = await addTodo('Water the plants');
    const { delegated } = await answer(fixture, 'todo_delegate', { task_id: todo });
    const id = String(Object(delegated).task_id);
    assert.equal(await fixture.claim(await fixture.join('gardener')), id);
    await fixture.complete(fixture.agentId('gardener'), id);
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
    const of = { kind: 'workspace', id: fixture.workspace };
    await answer(fixture, 'system_setBudget', { ...of, tokens: 0 });
    await fixture.begin();
    await fixture.order();
    await fixture.ask('claim_task', {});
    await answer(fixture, 'system_setBudget', { ...of, tokens: 10 });
    const asked = database.collection('requests').where('workspace', '==', fixture.workspace);
    const states = async () => (await asked.get()).docs.map((request) => request.get('state'));
    assert.deepEqual(await states(), ['open']);
    await walk();
    assert.deepEqual(await states(), ['withdrawn']);
  });

  it('runs once a day; each sweep continues at the position at which the previous one stopped', async () => {
    fixture.pass(DAY_SECONDS);
    let asked = 0;
    const first = await turn({ isOver: () => ++asked > 2 });
    const rest = await turn();
    const none = await turn();
    const [some = 0, more = 0] = [first, rest].map(({ counts }) => counts['looked']);
    assert.ok(some > 0 && more > some, `${some} and then ${more} documents were scanned`);
    assert.deepEqual(none, { counts: { looked: 0 }, isBehind: false });
    fixture.pass(DAY_SECONDS);
    assert.equal((await turn()).counts['looked'], some + more);
  });

  it('runs only in sweeps at minutes that are divisible by five', async () => {
    fixture.pass(DAY_SECONDS + 60);
    assert.equal((await turn()).counts['looked'], 0);
  });

  async function addTodo(title: string): Promise<string> {
    const draft = { title: `${title} of ${fixture.workspace}` };
    return (await fixture.app.services.todos.add(fixture.leader.owner_uid, draft, unkeyed)).id;
  }
});
