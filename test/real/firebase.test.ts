/**
 * Calls to a deployment on a real Firebase project: tasks, to-dos, both databases under their rules, triggers and the
 * event log. All data has a name unique to this run, and is removed or closed at the end. Two kinds of data remain,
 * because no tool removes them: closed tasks of the workspace `test-real`, and the profile of the calling agent.
 */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { succeed } from '../e2e/support/calls.ts';
import { type Connection, connect } from '../e2e/support/clients.ts';
import { send } from '../e2e/support/http.ts';
import { eventually } from '../e2e/support/waiting.ts';
import { describeReal, newName, variable } from './asking.ts';

/** Maximum time until a trigger has taken effect, including the start of an instance. */
const PATIENCE_MS = 60_000;
const task = z.object({ task: z.object({ id: z.string() }) });

const read = z.object({
  data: z.record(z.string(), z.unknown()),
  metadata: z.object({ version: z.string().optional(), indexed: z.boolean().optional() }).loose(),
});

describeReal('firebase', () => {
  const url = new URL(variable('MUSTER_URL'));
  url.searchParams.set('workspace', 'test-real');
  const token = variable('MUSTER_TOKEN');
  const name = newName();
  let client: Connection;
  const cleaning: (() => Promise<unknown>)[] = [];

  const call = (tool: string, args: Readonly<Record<string, unknown>> = {}) => succeed(client, tool, args);

  before(async () => {
    client = await connect('client 2026-07-28', url.href, token);
  });

  after(async () => {
    const failures: unknown[] = [];
    for (const clean of cleaning.reverse()) await clean().catch((error: unknown) => failures.push(error));
    await client?.close();
    assert.deepEqual(failures, [], 'some data of this run was not removed');
  });

  it('reports that the deployment is healthy', async () => {
    const { status, alerts } = await call('system_getSystemStatus');
    assert.equal(status, 'healthy', JSON.stringify(alerts));
  });

  it('rejects calls without a credential or with an unknown credential', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    for (const authorization of ['', 'Bearer nobody.nothing']) {
      const headers = { 'Content-Type': 'application/json', ...(authorization !== '' && { authorization }) };
      assert.equal((await send(url.href, { method: 'POST', headers, body })).status, 401);
    }
  });

  it('copies a claimable task to the queue mirror, and lets an agent claim and complete it', async () => {
    // Starts a new session, so that the queue has no tasks of another run.
    await call('coordination_init_coordination', { goal: name });
    const [worker, capability] = ['test-real-worker', 'test-real'];
    await call('coordination_register_agent', { agent_id: worker, role: 'worker', capabilities: [capability] });
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const asked = { description: name, type: 'test', deadline, required_capabilities: [capability] };
    const { id } = task.parse(await call('coordination_create_task', asked)).task;
    let isOpen = true;
    cleaning.push(async () => {
      if (!isOpen) return;
      await call('coordination_claim_task', { agent_id: worker });
      await call('coordination_fail_task', { agent_id: worker, task_id: id, error: 'test:real has ended' });
    });
    const mirrored = { database: 'realtime', path: `workspaces/test-real/queue/${id}` };
    await eventually(
      'the trigger mirrors the task',
      async () => ((await client.call('firebase_read', mirrored)).isError ? undefined : true),
      PATIENCE_MS,
    );
    const claimed = task.parse(await call('coordination_claim_task', { agent_id: worker }));
    assert.equal(claimed.task.id, id);
    await call('coordination_complete_task', { agent_id: worker, task_id: id, output: 'done' });
    isOpen = false;
    const { results } = await call('coordination_get_results', { task_ids: [id] });
    assert.ok(Array.isArray(results) && results.length === 1);
  });

  for (const [database, path] of [
    ['firestore', `shared/${name}`],
    ['realtime', `shared/${name}`],
  ] as const)
    it(`stores data in ${database}, rejects writes with an old version, and hides credentials`, async () => {
      const at = { database, path };
      cleaning.push(() => call('firebase_write', { ...at, operation: 'delete', data: null }));
      await call('firebase_write', { ...at, operation: 'set', data: { a: { score: 2 }, b: { score: 1 } } });
      const { data, metadata } = read.parse(await call('firebase_read', at));
      assert.deepEqual(data, { a: { score: 2 }, b: { score: 1 } });
      const versioned = { ...at, operation: 'set', transaction: true, expectedVersion: metadata.version };
      await call('firebase_write', { ...versioned, data: { a: { score: 3 }, b: { score: 1 } } });
      const late = await client.call('firebase_write', { ...versioned, data: { a: { score: 4 } } });
      assert.equal(late.isError, true, 'a write with an old version fails');
      const hidden = await client.call('firebase_read', { database, path: 'credentials/somebody' });
      assert.equal(hidden.isError, true);
    });

  it('sorts Realtime Database data by a field that has no index', async () => {
    const query = { orderBy: 'score', limit: 1 };
    const asked = { database: 'realtime', path: `shared/${name}`, query };
    const { data, metadata } = read.parse(await call('firebase_read', asked));
    assert.deepEqual([data, metadata.indexed], [{ b: { score: 1 } }, false]);
  });

  it('delivers the event of a write to a subscriber', async () => {
    const path = `messages/${name}`;
    const subscriptionId = name;
    await call('firebase_subscribe', { subscriptionId, database: 'realtime', path, eventType: 'child_added' });
    cleaning.push(() => call('firebase_unsubscribe', { subscriptionId }));
    await call('firebase_write', { database: 'realtime', path, operation: 'push', data: { text: 'hello' } });
    cleaning.push(() => call('firebase_write', { database: 'realtime', path, operation: 'delete', data: null }));
    let cursor: unknown;
    await eventually(
      'the subscription returns the event of the write',
      async () => {
        const after = cursor === undefined ? {} : { cursor };
        const polled = await call('firebase_pollEvents', { subscriptionId, waitMs: 5000, ...after });
        ({ cursor } = polled);
        return JSON.stringify(polled).includes('hello') || undefined;
      },
      PATIENCE_MS,
    );
  });

  it('stores a to-do, finds it, and records its completion in its history', async () => {
    const due_date = new Date(Date.now() + 86_400_000).toISOString();
    const added = task.parse(await call('todo_add_task', { title: name, due_date }));
    const task_id = added.task.id;
    cleaning.push(() => call('todo_delete_task', { task_id }));
    const { total } = await call('todo_search_tasks', { query: name });
    assert.equal(total, 1);
    await call('todo_complete_task', { task_id });
    await eventually(
      'the history lists both changes',
      async () => {
        const { events } = await call('todo_get_task_history', { task_id });
        return (Array.isArray(events) && events.length >= 2) || undefined;
      },
      PATIENCE_MS,
    );
  });
});
