import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer as ask, call } from './calls.ts';

describe('undo of tasks and sessions', () => {
  let fixture: AccessFixture;
  let ada: Principal;
  let agent: Principal;
  let other: Principal;

  beforeEach(async () => {
    fixture = new AccessFixture();
    await fixture.closeTo({ ada: 'leader', ben: 'leader' });
    ada = await fixture.person('ada');
    agent = await fixture.agentOf('ada', 'leader');
    other = await fixture.agentOf('ben', 'leader');
    await answer('init_coordination', { goal: 'Goal' }, ada);
    await answer('register_agent', { agent_id: String(agent.agent_id), role: 'worker' }, agent);
    await answer('register_agent', { agent_id: String(other.agent_id), role: 'worker' }, other);
  });

  /** Advances the clock by one second, and calls a tool. */
  const answer = (tool: string, args: JsonObject, by: Principal = agent): Promise<JsonObject> => {
    fixture.pass(1);
    return ask(fixture, `coordination_${tool}`, args, by);
  };

  const create = async (description: string, more: JsonObject = {}): Promise<string> =>
    Object(await answer('create_task', { description, ...more })).task.id;

  const claim = (by: Principal = agent) => answer('claim_task', { agent_id: String(by.agent_id) }, by);

  const work = (tool: string, taskId: string, more: JsonObject = {}, by: Principal = agent) =>
    answer(tool, { task_id: taskId, agent_id: String(by.agent_id), ...more }, by);

  const latest = async (): Promise<string> =>
    Object(await ask(fixture, 'system_getAudit', { of: 'workspace', limit: 1 }, ada)).events[0].event_id;

  /** Undoes the given event, or the latest one. */
  const undo = async (eventId?: string, by: Principal = ada) => {
    const event_id = eventId ?? (await latest());
    fixture.pass(1);
    const { structuredContent, isError } = await call(fixture, 'system_undo', { event_id }, by);
    const { error, refused } = Object(structuredContent);
    return { isError: isError === true, error, refused };
  };

  const undone = async (eventId?: string): Promise<void> => {
    const { isError, error, refused } = await undo(eventId);
    assert.ok(!isError && refused.length === 0, JSON.stringify(error ?? refused));
  };

  const task = async (id: string) => {
    const found = await fixture.app.coordination.ports.tasks.find(id);
    return found?.value ?? assert.fail(id);
  };

  const counted = async (): Promise<JsonObject> => {
    const { counters } = await fixture.app.services.coordination.status(fixture.workspace);
    return Object.fromEntries(Object.entries(counters.counts).filter(([, count]) => count !== 0));
  };

  const held = async (): Promise<readonly string[]> => {
    const found = await fixture.app.access.ports.agents.find(String(agent.agent_id));
    return Object.keys(found?.value.held ?? {});
  };

  it('cancels a created task; if the task was claimed, it fails and names the holder', async () => {
    const id = await create('One');
    const created = await latest();
    await undone();
    assert.equal((await task(id)).status, 'cancelled');
    assert.deepEqual(await counted(), { cancelled: 1 });
    assert.equal((await undo(created)).error.data.reason, 'ALREADY_UNDONE');
    await create('Two');
    const second = await latest();
    await claim();
    const { error } = await undo(second);
    assert.equal(error.data.reason, 'CHANGED_SINCE');
    assert.match(error.message, new RegExp(`status.*by "${agent.agent_id}" with coordination_claim_task`));
  });

  it('fails for the creation of a task if another task depends on the task', async () => {
    const id = await create('One');
    const created = await latest();
    const waiting = await create('Two', { dependencies: [id] });
    assert.match((await undo(created)).error.message, new RegExp(`task "${waiting}" depends on it`));
    await undone();
    await undone(created);
    assert.deepEqual(await counted(), { cancelled: 2 });
  });

  describe('a batch that is too large for one audit entry', () => {
    let created: readonly string[];
    let event: string;
    const tasks = Array.from({ length: 20 }, (_, number) => ({
      description: `${number} ${'x'.repeat(19_000)}`,
      // Most of the descriptions and of these dependencies do not fit into the audit entry.
      dependencies: number < 2 ? [] : [`task-${1 + (number % 2)}`],
    }));

    const stateOf = async (id = '') => (await task(id)).status;

    beforeEach(async () => {
      created = Object(await ask(fixture, 'coordination_create_tasks_batch', { tasks }, ada)).task_ids;
      event = await latest();
    });

    it('is cancelled as a whole', async () => {
      await undone(event);
      assert.deepEqual(await counted(), { cancelled: 20 });
    });

    it('is cancelled, except tasks that were updated later or got another dependent', async () => {
      const [waited = '', updated = ''] = [created[19], created[18]];
      const later = await create('Later', { dependencies: [waited] });
      await ask(fixture, 'coordination_update_task', { task_id: updated, description: 'Another' }, ada);
      const { refused } = await undo(event);
      const why = new Map<string, string>(refused.map(({ id, why: reported }: JsonObject) => [id, reported]));
      assert.deepEqual([...why.keys()].sort(), [waited, updated].sort());
      assert.match(why.get(waited) ?? '', new RegExp(`task "${later}" depends on it`));
      assert.match(why.get(updated) ?? '', /changed in the meantime: description/);
      assert.deepEqual([await stateOf(waited), await stateOf(updated)], ['available', 'available']);
    });
  });

  it('cancels a batch of tasks that depend on each other in one commit', async () => {
    const tasks = ['One', 'Two', 'Three'].map((description, place) => ({
      description,
      ...(place > 0 && { dependencies: [`task-${place}`] }),
    }));
    await answer('create_tasks_batch', { tasks }, ada);
    await undone();
    assert.deepEqual(await counted(), { cancelled: 3 });
  });

  it('restores fields and dependencies, but not dependencies that would form a cycle', async () => {
    const [one, two] = [await create('One'), await create('Two')];
    const three = await create('Three', { dependencies: [one], hints: 'H', deadline: '2099-01-01T00:00:00Z' });
    const before = await task(three);
    await answer('update_task', {
      task_id: three,
      description: 'X',
      dependencies: [two],
      clear: ['hints', 'deadline'],
      priority: 1,
    });
    await undone();
    const after = await task(three);
    for (const field of ['description', 'dependencies', 'deadline', 'priority', 'blockers', 'context'] as const)
      assert.deepEqual(after[field], before[field], field);
    assert.deepEqual([(await task(one)).dependents, (await task(two)).dependents], [[three], []]);
    await answer('update_task', { task_id: three, dependencies: [] });
    const freed = await latest();
    await answer('update_task', { task_id: one, dependencies: [three] });
    assert.match((await undo(freed)).error.message, /cycle/);
    await answer('cancel_task', { task_id: three }, ada);
    assert.match((await undo(freed)).error.message, /it is cancelled/);
  });

  it('releases a claimed task, and gives a started task the status claimed again', async () => {
    const id = await create('One');
    await claim();
    const claimed = await latest();
    await work('start_task', id);
    assert.match((await undo(claimed)).error.message, /changed in the meantime: status/);
    await undone();
    assert.deepEqual([(await task(id)).status, (await task(id)).claim?.started_at], ['claimed', undefined]);
    await undone(claimed);
    assert.deepEqual([(await task(id)).status, (await task(id)).claim], ['available', undefined]);
    assert.deepEqual([await held(), await counted()], [[], { available: 1 }]);
    assert.equal(Object(await claim(other)).task.id, id);
    assert.equal((await task(id)).claim_epoch, 2, 'the claim epoch continues');
  });

  it('reopens a completed task and blocks its dependents again', async () => {
    const id = await create('One');
    const next = await create('Two', { dependencies: [id] });
    await claim();
    await work('start_task', id);
    await work('complete_task', id, { output: 'Done' });
    const completed = await latest();
    assert.equal((await task(next)).blockers, 0);
    await claim(other);
    const { error } = await undo(completed);
    assert.match(error.message, new RegExp(`dependent "${next}" is claimed, held by "${other.agent_id}"`));
    await undone();
    await undone(completed);
    const { status, result, claim: holder } = await task(id);
    assert.deepEqual([status, result, holder?.claimed_by], ['in_progress', undefined, agent.agent_id]);
    assert.deepEqual([(await task(next)).blockers, await held()], [1, [id]]);
    assert.deepEqual(await counted(), { in_progress: 1, available: 1 });
    await work('complete_task', id, { output: 'Better' });
    const again = await task(id);
    assert.deepEqual([(await task(next)).blockers, again.result?.output], [0, 'Better']);
    const worked = Number(again.completed_at) - Number(again.claim?.claimed_at);
    assert.equal(again.spent?.milliseconds, worked, 'the time of a claim is counted once');
  });

  it('requeues a failed or cancelled task, and restores the outcome of a retried task', async () => {
    const id = await create('One');
    const next = await create('Two', { dependencies: [id] });
    await answer('cancel_task', { task_id: id }, ada);
    await undone();
    assert.deepEqual([(await task(id)).status, (await task(id)).error], ['available', undefined]);
    assert.deepEqual((await task(next)).failed_dependencies, []);
    await claim();
    await work('fail_task', id, { error: 'No', retryable: false });
    const ended = await task(id);
    await answer('retry_task', { task_id: id });
    await undone();
    const again = await task(id);
    assert.deepEqual(
      [again.status, again.error, again.completed_at, again.former_ends.length, again.claim?.claimed_by],
      ['failed', 'No', ended.completed_at, ended.former_ends.length, agent.agent_id],
    );
    assert.deepEqual((await task(next)).failed_dependencies, [id]);
    assert.deepEqual(await counted(), { failed: 1, available: 1 });
    await answer('retry_task', { task_id: id });
    const retried = await latest();
    await claim(other);
    assert.match((await undo(retried)).error.message, new RegExp(`changed in the meantime.*"${other.agent_id}"`));
  });

  it('restores a replaced plan, but not a replaced session: the error suggests reopen', async () => {
    await answer('init_coordination', { goal: 'Goal', master_plan: 'First' }, ada);
    await answer('init_coordination', { goal: 'Goal', master_plan: 'Second' }, ada);
    await undone();
    const status = await fixture.app.services.coordination.session(fixture.workspace);
    assert.equal(status?.master_plan, 'First');
    await answer('init_coordination', { goal: 'Another' }, ada);
    assert.match((await undo()).error.message, /coordination.reopen/);
  });

  it('reverts all changes of an agent since a given time, newest first', async () => {
    const since = fixture.now.toISOString();
    const [one, two] = [await create('One'), await create('Two')];
    await claim();
    await work('start_task', one);
    await work('complete_task', one, { output: 'Done' });
    await answer('update_task', { task_id: two, priority: 1 });
    fixture.pass(1);
    const all = await ask(fixture, 'system_undo', { agent_id: String(agent.agent_id), since }, ada);
    assert.deepEqual(all['refused'], []);
    assert.deepEqual(await counted(), { cancelled: 2 });
    assert.deepEqual(await held(), []);
  });

  it('refuses to undo a change that the caller could not make', async () => {
    const id = await create('One');
    await answer('cancel_task', { task_id: id }, await fixture.person('ben'));
    await fixture.letIn(fixture.workspace, 'ben', 'worker');
    const { error } = await undo(await latest(), await fixture.person('ben'));
    assert.match(error.message, /You cannot change task/);
    assert.equal((await task(id)).status, 'cancelled');
  });
});
