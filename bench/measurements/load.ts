/** Memory and event-loop delay of one instance under a mixed load of 80 concurrent calls. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Call, latenciesAt } from '../load/arrivals.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, median, spread } from '../measurement.ts';
import { addCaller, addCallers, newProject } from '../seed.ts';
import type { FunctionServer } from '../servers/functionServer.ts';
import { serveProbed } from '../servers/probedServer.ts';
import { addTodos } from '../todoSeed.ts';

const CALLERS = 80;
const TODOS = 100;
const WARM_UP_MS = 30_000;
const HALF_LOAD_SECONDS = 30;
const SAMPLE_MS = 1000;

/** @param minutes duration of the load in which the memory is measured */
export async function measureLoad(minutes: number): Promise<Measurement> {
  const project = newProject('load');
  const leader = await addCaller(project, 'leader');
  const callers = await addCallers(project, 'worker', CALLERS);
  await addTodos(project, TODOS);
  const server = await serveProbed(project.env);
  const boss = new McpCaller(server.url, leader.credential);
  const calls = callers.map(({ agentId, credential }) => mixOf(boss, new McpCaller(server.url, credential), agentId));
  await saturate(server, calls, WARM_UP_MS);
  await server.report('delay');
  const full = await saturate(server, calls, minutes * 60_000);
  const fullDelay = await server.report('delay');
  const half = full.perSecond / 2;
  await latenciesAt(half, half * HALF_LOAD_SECONDS, calls);
  const halfDelay = await server.report('delay');
  await server.end();
  const third = Math.floor(full.kibibytes.length / 3);
  const [first, last] = [median(full.kibibytes.slice(0, third)), median(full.kibibytes.slice(-third))];
  const what = 'ms of event-loop delay at half of this rate, 99th percentile';
  return {
    name: 'load',
    title: `${CALLERS} concurrent callers of eight tools for ${minutes} minutes; memory in the last third, compared with the first`,
    ratio: spread([last / first]),
    target: { kind: 'at most', value: 1.1 },
    figures: {
      'MiB of memory in the first third': first / 1024,
      'MiB of memory in the last third': last / 1024,
      'calls/s': full.perSecond,
      'ms of event-loop delay, 99th percentile': fullDelay,
      [what]: halfDelay,
    },
    figureTargets: { [what]: { kind: 'at most', value: 50 } },
  };
}

/** Returns a function that makes the caller's next call. Only a leader, `boss`, may create tasks. */
function mixOf(boss: McpCaller, caller: McpCaller, agentId: string): Call {
  const own = { agent_id: agentId };
  let taskId: unknown;
  const calls: readonly Call[] = [
    () => boss.call('coordination.create_task', { description: 'A task of the mixed load' }),
    async () => {
      const { task } = await caller.call('coordination.claim_task', own);
      taskId = typeof task === 'object' && task !== null && 'id' in task ? task.id : undefined;
    },
    async () => taskId && caller.call('coordination.start_task', { ...own, task_id: taskId }),
    () => caller.call('coordination.heartbeat', own),
    () => caller.call('coordination.get_status', {}),
    () => caller.call('todo.list_tasks', { limit: 10 }),
    () => caller.call('firebase.read', { database: 'firestore', path: `agents/${agentId}` }),
    () => caller.send('tools/list'),
    async () => taskId && caller.call('coordination.complete_task', { ...own, task_id: taskId, output: 'done' }),
  ];
  let next = 0;
  return () => calls[next++ % calls.length]?.() ?? Promise.resolve();
}

/** Lets each caller make one call after the other, and samples the memory. */
async function saturate(server: FunctionServer, calls: readonly Call[], milliseconds: number) {
  const kibibytes: number[] = [];
  const started = performance.now();
  const isOver = () => performance.now() - started > milliseconds;
  let count = 0;
  const sampling = async () => {
    for (; !isOver(); await delay(SAMPLE_MS)) kibibytes.push(server.residentKibibytes());
  };
  const calling = async (call: Call) => {
    for (; !isOver(); count++) await call();
  };
  await Promise.all([sampling(), ...calls.map(calling)]);
  return { kibibytes, perSecond: (count * 1000) / (performance.now() - started) };
}
