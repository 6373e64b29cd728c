/** Scenarios for sessions, tasks, leases, retries, findings and idempotency keys. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { eventually } from '../../../e2e/support/waiting.ts';
import type { Agent } from '../fixture.ts';
import type { Place, Scenario } from '../scenario.ts';

const oneTask = z.object({ task: z.object({ id: z.string(), status: z.string() }) });
const tasks = z.object({ tasks: z.array(z.object({ id: z.string(), status: z.string(), description: z.string() })) });
const results = z.object({ results: z.array(z.object({ result: z.object({ output: z.string() }) })) });
const status = z.object({ total_tasks: z.number(), tasks: z.record(z.string(), z.number()) });
const discoveries = z.object({ discoveries: z.array(z.object({ content: z.string() })) });

async function create(at: Place, who: Agent, draft: object): Promise<string> {
  return oneTask.parse(await at.call(who, 'coordination_create_task', draft)).task.id;
}

async function claim(at: Place, who: Agent): Promise<string> {
  return oneTask.parse(await at.call(who, 'coordination_claim_task', { agent_id: who.id })).task.id;
}

/** Sends a heartbeat, and retries as its error advises if the Realtime Database did not respond in time. */
function heartbeat(at: Place, who: Agent): Promise<unknown> {
  return eventually('a recorded heartbeat', () =>
    at.call(who, 'coordination_heartbeat', { agent_id: who.id }).catch((error: unknown) => {
      if (!String(error).includes('Retry in a moment.')) throw error;
      return undefined;
    }),
  );
}

const complete = (at: Place, { id, ...rest }: Agent, task_id: string) =>
  at.call({ id, ...rest }, 'coordination_complete_task', { agent_id: id, task_id, output: `Done: ${task_id}` });

/** A session of tasks with dependencies, from the plan to the results. */
const graphOfTasks: Scenario = {
  name: 'tasks with dependencies',
  steps: ({ lead, worker, other }) => {
    const ids: string[] = [];
    return [
      async (at) => {
        await at.call(lead, 'coordination_init_coordination', { goal: 'Ship it', master_plan: 'First, second.' });
        ids.push(await create(at, lead, { description: 'First', priority: 1 }));
        ids.push(await create(at, lead, { description: 'Second', priority: 2, dependencies: [ids[0]] }));
        ids.push(await create(at, lead, { description: 'Third', priority: 3, dependencies: [ids[0]] }));
        await at.call(worker, 'coordination_register_agent', { agent_id: worker.id, role: 'worker' });
        assert.equal(await claim(at, worker), ids[0]);
        await at.call(worker, 'coordination_start_task', { agent_id: worker.id, task_id: ids[0] });
      },
      async (at) => {
        await heartbeat(at, worker);
        await complete(at, worker, String(ids[0]));
        const found = { agent_id: worker.id, content: 'It rains', tags: ['weather'] };
        await at.call(worker, 'coordination_add_discovery', found);
        await at.call(other, 'coordination_register_agent', { agent_id: other.id, role: 'worker' });
        assert.equal(await claim(at, worker), ids[1]);
      },
      async (at) => {
        await at.call(worker, 'coordination_fail_task', { agent_id: worker.id, task_id: ids[1], error: 'Broken' });
        assert.equal(await claim(at, other), ids[2]);
      },
      async (at) => {
        await complete(at, other, String(ids[2]));
        const all = tasks.parse(await at.call(lead, 'coordination_get_all_tasks'));
        assert.deepEqual(all.tasks.map((task) => [task.description, task.status]).toSorted(), [
          ['First', 'done'],
          ['Second', 'failed'],
          ['Third', 'done'],
        ]);
        const done = ids.filter((id) => id !== ids[1]);
        const outputs = results.parse(await at.call(lead, 'coordination_get_results', { task_ids: done }));
        assert.deepEqual(
          outputs.results.map(({ result }) => result.output).toSorted(),
          done.map((id) => `Done: ${id}`).toSorted(),
        );
        const { discoveries: found } = discoveries.parse(await at.call(lead, 'coordination_get_discoveries'));
        const contents = found.map(({ content }) => content);
        assert.deepEqual(contents, ['It rains']);
        const now = status.parse(await at.call(lead, 'coordination_get_status'));
        assert.deepEqual([now.total_tasks, now.tasks['done'], now.tasks['failed']], [3, 2, 1]);
        const plan = await at.call(lead, 'coordination_get_master_plan');
        assert.match(JSON.stringify(plan), /First, second\./);
      },
    ];
  },
};

/** Calls that are repeated with their idempotency key take effect once, and get equal responses at both versions. */
const keys: Scenario = {
  name: 'calls with an idempotency key',
  steps: ({ lead, worker }) => {
    const draft = { description: 'Once', idempotency_key: `key-${worker.id}` };
    const claiming = { agent_id: worker.id, idempotency_key: `claim-${worker.id}` };
    let [created, claimed]: unknown[] = [];
    const again = async (at: Place) => {
      assert.deepEqual(await at.call(lead, 'coordination_create_task', draft), created);
      assert.deepEqual(await at.call(worker, 'coordination_claim_task', claiming), claimed);
    };
    return [
      async (at) => {
        await at.call(lead, 'coordination_init_coordination', { goal: 'Do it once' });
        created = await at.call(lead, 'coordination_create_task', draft);
        claimed = await at.call(worker, 'coordination_claim_task', claiming);
      },
      again,
      async (at) => {
        const { task } = oneTask.parse(created);
        await complete(at, worker, task.id);
        await again(at);
      },
      async (at) => {
        await again(at);
        const all = tasks.parse(await at.call(lead, 'coordination_get_all_tasks'));
        const statuses = all.tasks.map(({ status: one }) => one);
        assert.deepEqual(statuses, ['done']);
      },
    ];
  },
};

export const coordinationScenarios: readonly Scenario[] = [graphOfTasks, keys];
