/** A workspace with many tasks and agents, whose calls are measured in rounds. */
import { idOf, McpCaller } from './load/client.ts';
import { median } from './measurement.ts';
import { addAgents, addCaller, newProject, type Project } from './seed.ts';
import { serveMetered } from './servers/meteredServer.ts';
import { type Look, look } from './wire/look.ts';

const BATCH = 500;

/** Few claims per round, so that a short queue hardly shrinks. */
const CALLS = 11;

/** Claims whose operations are counted. The instance reads tasks for 20 claims first, and then for 40. */
const COUNTED_CLAIMS = 60;
const CLAIM = 'coordination.claim_task';

/** Measured tools. Except for the claim, they read the whole workspace, and a change precedes each round. */
export const TOOLS = {
  claim: CLAIM,
  status: 'coordination.get_status',
  taskQueue: 'system.getTaskQueue',
  agents: 'system.getAgents',
} as const;
type Tool = (typeof TOOLS)[keyof typeof TOOLS];

export interface Queue {
  readonly size: number;
  /** Makes a round of calls, and returns the medians of their times. */
  round(tool: Tool): Promise<Pick<Look, 'inAll' | 'outsideFirestore'>>;
  /** Returns the average operations per call: per claim of a shrinking queue, or of the first call of another tool. */
  cost(tool: Tool): Promise<{ readonly reads: number; readonly queries: number }>;
  end(): Promise<void>;
}

interface QueueOptions {
  /** Creates the tasks and agents of a new project. `boss` is a leader. */
  readonly fill?: (project: Project, boss: McpCaller, size: number) => Promise<unknown>;
  /** Number of calls per round. */
  readonly calls?: number;
}

/** Creates a project with `size` agents and queued tasks, and a function that serves it. */
export async function openQueue(name: string, size: number, options: QueueOptions = {}): Promise<Queue> {
  const { fill = fillThroughTools, calls = CALLS } = options;
  const project = newProject(name);
  const leader = await addCaller(project, 'leader');
  const { agentId, credential } = await addCaller(project, 'worker');
  const { url, meter, end } = await serveMetered(project);
  const boss = new McpCaller(url, leader.credential);
  const caller = new McpCaller(url, credential);
  await fill(project, boss, size);
  const measured = (tool: Tool, args: object = {}) => look(meter, () => caller.call(tool, args));
  const complete = (taskId: string) =>
    caller.call('coordination.complete_task', { agent_id: agentId, task_id: taskId, output: 'done' });
  const claims = async (count: number): Promise<Look[]> => {
    const looks: Look[] = [];
    while (looks.length < count) {
      const claim = await measured(CLAIM, { agent_id: agentId });
      looks.push(claim);
      await complete(idOf(claim.answer['task']));
    }
    await createTasks(boss, count);
    return looks;
  };
  return {
    size,
    async round(tool) {
      const looks = await claims(tool === CLAIM ? calls : 1);
      if (tool !== CLAIM) looks.pop();
      while (looks.length < calls) looks.push(await measured(tool));
      const [inAll, outside] = [looks.map((one) => one.inAll), looks.map((one) => one.outsideFirestore)];
      return { inAll: median(inAll), outsideFirestore: median(outside) };
    },
    async cost(tool) {
      const looks: Look[] = [];
      const heldTaskIds: string[] = [];
      if (tool !== CLAIM) await claims(1);
      while (looks.length < (tool === CLAIM ? COUNTED_CLAIMS : 1)) {
        // First makes a call in which the instance does its periodic work, so that this work is not counted.
        await caller.call('coordination.heartbeat', { agent_id: agentId });
        const one = await measured(tool, tool === CLAIM ? { agent_id: agentId, in_hand: heldTaskIds } : {});
        looks.push(one);
        if (tool === CLAIM) heldTaskIds.push(idOf(one.answer['task']));
      }
      for (const taskId of heldTaskIds) await complete(taskId);
      await createTasks(boss, heldTaskIds.length);
      const average = (number: (one: Look) => number) =>
        Math.round((100 * looks.reduce((sum, one) => sum + number(one), 0)) / looks.length) / 100;
      return { reads: average(({ bill }) => bill.reads), queries: average(({ queries }) => queries) };
    },
    end,
  };
}

function fillThroughTools(project: Project, boss: McpCaller, size: number): Promise<unknown> {
  return Promise.all([createTasks(boss, size), addAgents(project, size)]);
}

/** Creates tasks in batches. */
export async function createTasks(boss: McpCaller, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const tasks = Array.from({ length: Math.min(left, BATCH) }, (_, number) => ({ description: `Task ${number}` }));
    await boss.call('coordination.create_tasks_batch', { tasks });
  }
}
