/** Six workers complete a graph of tasks. One of them is killed while it holds a task. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { defaultOrNightly } from '../support/nightly.ts';
import { registerAgent } from './support/agents.ts';
import { everyItem, succeed } from './support/calls.ts';
import { type Connection, connect, ERAS } from './support/clients.ts';
import { sweepUntil } from './support/emulator.ts';
import { endpointUrl, newWorkspace, tokenOf } from './support/endpoint.ts';
import { layeredGraph, type PlannedTask } from './support/taskGraph.ts';
import { eventually } from './support/waiting.ts';
import { type Report, startWorker, type WorkerProcess } from './support/workers.ts';

const GRAPH = layeredGraph(defaultOrNightly(4, { night: 14 }), 15);
const BATCH = 50;
const WORKERS = 6;

/** Options of the worker to kill. Its lease is short; the leases of the other workers are longer than the test. */
const VICTIM = { leaseSeconds: 2, stopAtClaim: 5 };
const OTHERS = { leaseSeconds: 600 };

const finishedTask = z.object({
  id: z.string(),
  description: z.string(),
  status: z.literal('done'),
  dependencies: z.array(z.string()),
  claimed_by: z.string(),
  claimed_at: z.iso.datetime(),
  claim_epoch: z.number(),
  started_at: z.iso.datetime(),
  completed_at: z.iso.datetime(),
  result: z.object({ output: z.string() }),
});
const idleAgent = z.object({ tasks_completed: z.number(), current_task: z.null() });
type FinishedTask = z.output<typeof finishedTask>;

describe('the task queue with six workers', () => {
  const workspace = newWorkspace('team');
  let leader: Connection;
  let workers: WorkerProcess[] = [];
  let tasks: readonly FinishedTask[] = [];
  let heldTaskIds: Report;

  before(async () => {
    const url = endpointUrl('/coordination', { workspace });
    leader = await connect('client 2026-07-28', url, await tokenOf('leader'));
    await leader.call('init_coordination', { goal: 'Finish the graph' });
    await createAll(leader, GRAPH);
    const agents = await Promise.all(Array.from({ length: WORKERS }, (_, n) => registerAgent(`team-${n}`)));
    workers = agents.map((agent, n) =>
      startWorker({ era: ERAS[n % ERAS.length] ?? ERAS[0], url, agent, ...(n === 0 ? VICTIM : OTHERS) }),
    );
  });
  after(async () => {
    for (const worker of workers) worker.kill();
    await leader?.close();
  });

  it('shows the task of a killed worker as in progress before a sweep', async () => {
    const [victim] = workers;
    assert.ok(victim);
    heldTaskIds = await eventually('the victim holds a task and has stopped', async () =>
      victim.reports.find((one) => one.kind === 'stopped'),
    );
    victim.kill();
    assert.equal(await victim.ended, 'SIGKILL');
    const held = await everyItem(leader, 'get_all_tasks', 'tasks', { status_filter: 'in_progress' });
    assert.ok(JSON.stringify(held).includes(heldTaskIds.task));
  });

  it('releases the task of a killed worker by the cleanup job, so that another worker claims it', () =>
    sweepUntil('the task is released', async () => {
      const again = workers
        .flatMap((worker) => worker.reports)
        .find((one) => one.task === heldTaskIds.task && one.epoch > heldTaskIds.epoch);
      return again;
    }));

  it('is emptied by the other five workers after one worker was killed', async () => {
    const ends = await Promise.all(workers.slice(1).map((worker) => worker.ended));
    assert.deepEqual(ends, [0, 0, 0, 0, 0]);
    tasks = z.array(finishedTask).parse(await everyItem(leader, 'get_all_tasks', 'tasks', { limit: 60 }));
    assert.equal(tasks.length, GRAPH.length);
  });

  it('has exactly one completion and one result for each task', () => {
    const completed = workers.flatMap((worker) =>
      worker.reports.filter((one) => one.kind === 'completed').map((one) => one.task),
    );
    assert.deepEqual([...completed].sort(), tasks.map((task) => task.id).sort());
    const outputs = tasks.map((task) => task.result.output);
    assert.equal(new Set(outputs).size, GRAPH.length);
    for (const { description, claimed_by, result } of tasks)
      assert.equal(result.output, `${description} by ${claimed_by}`);
    assert.deepEqual(tasks.map((task) => task.description).sort(), GRAPH.map((task) => task.description).sort());
  });

  it("gives the killed worker's task to another worker with the next claim epoch", () => {
    const redone = tasks.find((task) => task.id === heldTaskIds.task);
    assert.notEqual(redone?.claimed_by, workers[0]?.agent.id);
    assert.equal(redone?.claim_epoch, heldTaskIds.epoch + 1);
  });

  it('grants each claim epoch of a task only once', () => {
    const claims = workers.flatMap((worker) => worker.reports.filter((one) => one.kind === 'claimed'));
    assert.equal(new Set(claims.map(({ task, epoch }) => `${task} ${epoch}`)).size, claims.length);
    assert.equal(claims.length, GRAPH.length + 1);
  });

  it('lets workers claim a task only after all its dependencies are completed', () => {
    const byId = new Map(tasks.map((task) => [task.id, task]));
    for (const task of tasks) {
      const place = Number(task.description.replace('Task ', ''));
      assert.equal(task.dependencies.length, GRAPH[place]?.dependsOn.length);
      for (const dependency of task.dependencies) {
        const completed = byId.get(dependency)?.completed_at ?? '';
        assert.ok(completed !== '' && completed <= task.claimed_at, `${task.description} started before ${dependency}`);
      }
    }
  });

  it('has exact counters of tasks by status and of completed tasks by agent', async () => {
    const status = await succeed(leader, 'get_status');
    assert.deepEqual(status['tasks'], { available: 0, claimed: 0, in_progress: 0, done: GRAPH.length, failed: 0 });
    assert.deepEqual([status['total_tasks'], status['progress_percent']], [GRAPH.length, 100]);
    let sum = 0;
    for (const { agent, reports } of workers) {
      const known = await succeed(leader, 'register_agent', { agent_id: agent.id, role: 'worker' });
      const { tasks_completed, current_task } = idleAgent.parse(known['agent']);
      assert.equal(tasks_completed, reports.filter((one) => one.kind === 'completed').length);
      assert.equal(current_task, null);
      sum += tasks_completed;
    }
    assert.equal(sum, GRAPH.length);
  });
});

/** Creates the graph in batches. A dependency is named `task-N` in the same batch, and by its id in later batches. */
async function createAll(leader: Connection, graph: readonly PlannedTask[]): Promise<void> {
  const ids: string[] = [];
  for (let start = 0; start < graph.length; start += BATCH) {
    const nameOf = (place: number): string => (place < start ? (ids[place] ?? '') : `task-${place - start + 1}`);
    const tasks = graph
      .slice(start, start + BATCH)
      .map(({ description, priority, dependsOn }) => ({ description, priority, dependencies: dependsOn.map(nameOf) }));
    const { task_ids } = await succeed(leader, 'create_tasks_batch', { tasks });
    ids.push(...z.array(z.string()).parse(task_ids));
  }
}
