/** Instances are killed during calls. No call is lost or duplicated if the caller repeats it with its key. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { requireProofInvariants } from '../eval/invariants.ts';
import { storedIn } from '../eval/stored.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { instances, kill } from './support/instances.ts';
import { eventually } from './support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Numbers of calls that must be interrupted before their commit, and after it, until the test ends. */
const ENOUGH = { before: 1, after: 1 };
const MAX_TASKS = 15;

describe('a tool call', () => {
  const workspace = newWorkspace('killed');
  let leader: Connection;
  let agent: TestAgent;
  const interruptions = { before: 0, after: 0 };
  let calls = 0;

  before(async () => {
    leader = await connect('client 2026-07-28', endpointUrl('', { workspace }), await tokenOf('leader'));
    agent = await registerAgent('killed');
    await succeed(leader, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
  });
  after(() => leader?.close());

  /** Repeats a call until an instance responds. */
  function persist(tool: string, args: Fields = {}, client = leader): Promise<Fields> {
    return eventually(`${tool} returns a response`, async () => {
      const answer = await client.call(tool, args).catch(() => undefined);
      if (answer === undefined) return undefined;
      assert.equal(answer.isError, false, `${tool}: ${answer.text}`);
      return answer.structured;
    });
  }

  /** Calls a tool with a key, and kills all instances during the call. Then repeats the call until it succeeds. */
  async function callAndKill(tool: string, args: Fields, client = leader): Promise<Fields> {
    // First makes sure that an instance runs. If one is killed before it listens, the emulator waits for a long time.
    await persist('coordination_get_status');
    const pids = instances();
    const keyed = { ...args, idempotency_key: randomUUID() };
    const before = await settledCount();
    const call = client.call(tool, keyed);
    const killing = calls++ % 3 === 0 ? delay(5) : settledMoreThan(before);
    const [first] = await Promise.allSettled([call, killing.then(() => kill(pids))]);
    const committed = (await settledCount()) > before;
    const repeated = await persist(tool, keyed, client);
    if (first.status === 'fulfilled') assert.deepEqual(repeated, first.value.structured, `second response of ${tool}`);
    else interruptions[committed ? 'after' : 'before']++;
    return repeated;
  }

  it('runs exactly once if its instance is killed and the caller repeats it with the same key', async () => {
    const done: string[] = [];
    const enough = (): boolean => interruptions.before >= ENOUGH.before && interruptions.after >= ENOUGH.after;
    while (!enough() && done.length < MAX_TASKS) {
      const created = await callAndKill('coordination_create_task', { description: `Task ${done.length}` });
      const { task } = await callAndKill('coordination_claim_task', { agent_id: agent.id });
      assert.ok(isRecord(created['task']) && isRecord(task));
      assert.equal(task['id'], created['task']['id']);
      const settled = { agent_id: agent.id, task_id: task['id'], output: `Done ${done.length}` };
      assert.deepEqual(await callAndKill('coordination_complete_task', settled), { success: true });
      done.push(String(task['id']));
    }
    assert.ok(interruptions.before > 0 && interruptions.after > 0, 'calls lost their response in both phases');

    await persist('coordination_get_status');
    const found = z
      .array(z.looseObject({ id: z.string(), status: z.string(), claim_epoch: z.number() }))
      .parse(await everyItem(leader, 'coordination_get_all_tasks', 'tasks'));
    assert.deepEqual(found.map((task) => task.id).sort(), [...done].sort());
    assert.ok(found.every((task) => task.status === 'done' && task.claim_epoch === 1));
    const status = await succeed(leader, 'coordination_get_status');
    assert.deepEqual(status['tasks'], { available: 0, claimed: 0, in_progress: 0, done: done.length, failed: 0 });
    const known = await succeed(leader, 'coordination_register_agent', { agent_id: agent.id, role: 'worker' });
    assert.ok(isRecord(known['agent']) && known['agent']['tasks_completed'] === done.length);
  });

  it('keeps the invariants of proofs if it is killed while it hands in or judges a result', async () => {
    const place = newWorkspace('proofs-killed');
    const clients = await Promise.all(
      ['author', 'reviewer'].map(async (name) => {
        const { id, token } = await registerAgent(name);
        const client = await connect('client 2026-07-28', endpointUrl('', { workspace: place }), token);
        await succeed(client, 'coordination_register_agent', { agent_id: id, role: 'worker' });
        return { id, client };
      }),
    );
    const lead = await connect('client 2026-07-28', endpointUrl('', { workspace: place }), await tokenOf('leader'));
    const [author, reviewer] = clients;
    assert.ok(author && reviewer);
    const wanted = { description: 'Write the parser', acceptance: { review: 'any' } };
    const created = await callAndKill('coordination_create_task', wanted, lead);
    assert.ok(isRecord(created['task']));
    const { id } = created['task'];
    const finishes = async ({ id: agent_id, client }: typeof author, more: Fields): Promise<Fields> => {
      const { task } = await persist('coordination_claim_task', { agent_id, start: true }, client);
      assert.ok(isRecord(task), agent_id);
      const report = { agent_id, task_id: task['id'], ...more };
      const answer = await callAndKill('coordination_complete_task', report, client);
      requireProofInvariants(await storedIn(place));
      return answer;
    };
    for (const [number, verdict] of ['request_changes', 'approve'].entries()) {
      await finishes(author, { output: `Attempt ${number}` });
      await finishes(reviewer, { output: 'Handle empty input.', verdict });
    }
    const { tasks } = await storedIn(place);
    const task = tasks.find((one) => one.id === id);
    assert.deepEqual([task?.status, task?.rounds, task?.claim_epoch], ['done', 1, 2]);
    await Promise.all([...clients.map(({ client }) => client), lead].map((one) => one.close()));
  });
});

/** Returns the number of calls with an idempotency key that were committed. */
async function settledCount(): Promise<number> {
  return (await firestore().collection(COLLECTIONS.idempotency).count().get()).data().count;
}

/** Waits until another call with a key is committed. Usually, the caller does not have the response yet. */
async function settledMoreThan(count: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await settledCount()) <= count && Date.now() < deadline);
}
