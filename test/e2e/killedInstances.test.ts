/** Instances killed during calls: a caller that repeats a call with its key loses and duplicates nothing. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { firestore } from '../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { registerAgent, type TestAgent } from './support/agents.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect, isRecord } from './support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { instances, kill } from './support/instances.ts';
import { eventually } from './support/waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Runs until this many calls have lost their response before and after their commit, up to a limit. */
const ENOUGH = { before: 1, after: 1 };
const MAX_TASKS = 15;

describe('a call whose instance is killed', () => {
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

  /** Calls a tool until an instance lives long enough to respond. */
  function persist(tool: string, args: Fields = {}): Promise<Fields> {
    return eventually(`${tool} answers`, async () => {
      const answer = await leader.call(tool, args).catch(() => undefined);
      if (answer === undefined) return undefined;
      assert.equal(answer.isError, false, `${tool}: ${answer.text}`);
      return answer.structured;
    });
  }

  /** Calls a tool and kills its instance during the call, then retries with the same key until it responds. */
  async function callAndKill(tool: string, args: Fields): Promise<Fields> {
    // The emulator waits long if an instance is killed before it listens: start one that does.
    await persist('coordination_get_status');
    const pids = instances();
    const keyed = { ...args, idempotency_key: randomUUID() };
    const before = await settledCount();
    const call = leader.call(tool, keyed);
    const killing = calls++ % 3 === 0 ? delay(5) : settledMoreThan(before);
    const [first] = await Promise.allSettled([call, killing.then(() => kill(pids))]);
    const committed = (await settledCount()) > before;
    const repeated = await persist(tool, keyed);
    if (first.status === 'fulfilled') assert.deepEqual(repeated, first.value.structured, `${tool} replays its answer`);
    else interruptions[committed ? 'after' : 'before']++;
    return repeated;
  }

  it('is neither lost nor duplicated when it is retried with its key', async () => {
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
    assert.ok(interruptions.before > 0 && interruptions.after > 0, 'calls have lost their answer');

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
});

/** Number of committed calls with a key. */
async function settledCount(): Promise<number> {
  return (await firestore().collection(COLLECTIONS.idempotency).count().get()).data().count;
}

/** Resolves when another call with a key is committed, while its response is on its way. */
async function settledMoreThan(count: number): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await settledCount()) <= count && Date.now() < deadline);
}
