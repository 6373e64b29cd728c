/** Time of calls with 10,000 tasks and agents, compared with 100 of each. */
import { McpCaller } from '../load/client.ts';
import { type Measurement, median, spread } from '../measurement.ts';
import { alternate, type Rounds, ratioOf, type Schedule } from '../rounds.ts';
import { addAgents, addCallers, type Caller, newProject, type Project } from '../seed.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../servers/functionServer.ts';
import { NOTHING, plus } from '../wire/bill.ts';
import { type Meter, openMeter } from '../wire/meter.ts';

const SHORT = 100;
const LONG = 10_000;
const BATCH = 500;

/** Few claims per round, so that the short queue hardly shrinks. An instance reads tasks for 11 claims at a time. */
const CLAIMS = 11;
const LOOKS = 11;
/** Many short rounds, so that other load on the machine affects both queues equally. */
const SCHEDULE: Schedule = { warmUps: 3, rounds: 25 };

export async function measureScale(): Promise<Measurement[]> {
  const [short, long] = [await openQueue('scale-short', SHORT), await openQueue('scale-long', LONG)];
  const claims = await alternate(
    SCHEDULE,
    () => long.medianClaim(),
    () => short.medianClaim(),
  );
  const looks: Rounds[] = [];
  for (const { tool } of LOOKED_AT) {
    looks.push(
      await alternate(
        SCHEDULE,
        () => long.medianLook(tool),
        () => short.medianLook(tool),
      ),
    );
  }
  const reads = { short: await short.reads(), long: await long.reads() };
  await Promise.all([short.end(), long.end()]);
  return [
    comparison('scale.claim', 'claim_task', claims, { short: reads.short.claim, long: reads.long.claim }),
    ...LOOKED_AT.flatMap(({ name, tool }, index) => {
      const times = looks[index];
      const [few = 0, many = 0] = [reads.short.looks[index], reads.long.looks[index]];
      return times ? [comparison(`scale.${name}`, tool, times, { short: few, long: many })] : [];
    }),
  ];
}

/** Tools that read the whole workspace. A change precedes each round. */
const LOOKED_AT = [
  { name: 'status', tool: 'coordination.get_status' },
  { name: 'taskQueue', tool: 'system.getTaskQueue' },
  { name: 'agents', tool: 'system.getAgents' },
] as const;

type Looked = (typeof LOOKED_AT)[number]['tool'];

/** @param reads documents that one call reads in the small (`short`) and in the large (`long`) workspace */
function comparison(
  name: string,
  what: string,
  times: Rounds,
  { short, long }: Record<'short' | 'long', number>,
): Measurement {
  return {
    name,
    title: `Median time of ${what} with ${LONG} tasks and agents, compared with the time with ${SHORT}`,
    ratio: ratioOf(times),
    target: { kind: 'at most', value: 1.3 },
    figures: {
      [`ms per call with ${LONG}`]: spread(times.ours),
      [`ms per call with ${SHORT}`]: spread(times.baseline),
      [`documents read per call with ${LONG}`]: long,
      [`documents read per call with ${SHORT}`]: short,
    },
    faults: short === long ? [] : [`a call reads ${long} documents with many tasks, but ${short} with few`],
  };
}

interface Queue {
  medianClaim(): Promise<number>;
  medianLook(tool: Looked): Promise<number>;
  /** Documents read per claim, and documents read by the first call of each other tool after a change. */
  reads(): Promise<{ readonly claim: number; readonly looks: readonly number[] }>;
  end(): Promise<void>;
}

/** Creates a project with `size` agents and queued tasks, and a function that serves the project. */
async function openQueue(name: string, size: number): Promise<Queue> {
  const project = newProject(name);
  const [leader] = await addCallers(project, 'leader');
  const [worker] = await addCallers(project, 'worker');
  if (leader === undefined || worker === undefined) throw new Error('Missing callers.');
  const server = await serveFunction({ ...musterFunction, env: project.env });
  const boss = new McpCaller(server.url, leader.credential);
  await Promise.all([create(boss, size), addAgents(project, size)]);
  return {
    async medianClaim() {
      const milliseconds = await claimSome(server, worker);
      await create(boss, CLAIMS);
      return median(milliseconds);
    },
    async medianLook(tool) {
      await create(boss, 1);
      await claimSome(server, worker, 1);
      return median(await look(server, worker, tool));
    },
    reads: () => countReads(project, worker, boss),
    end: () => server.end(),
  };
}

async function create(boss: McpCaller, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const tasks = Array.from({ length: Math.min(left, BATCH) }, (_, number) => ({ description: `Task ${number}` }));
    await boss.call('coordination.create_tasks_batch', { tasks });
  }
}

/** Claims and completes tasks, and returns the time of each claim. */
async function claimSome(server: FunctionServer, { agentId, credential }: Caller, claims = CLAIMS): Promise<number[]> {
  const caller = new McpCaller(server.url, credential);
  const milliseconds: number[] = [];
  for (let count = 0; count < claims; count++) {
    const started = performance.now();
    const { task } = await caller.call('coordination.claim_task', { agent_id: agentId });
    milliseconds.push(performance.now() - started);
    if (typeof task !== 'object' || task === null || !('id' in task)) throw new Error('No task was returned.');
    const report = { agent_id: agentId, task_id: task.id, output: 'done' };
    await caller.call('coordination.complete_task', report);
  }
  return milliseconds;
}

async function look(server: FunctionServer, { credential }: Caller, tool: Looked): Promise<number[]> {
  const caller = new McpCaller(server.url, credential);
  const milliseconds: number[] = [];
  for (let count = 0; count < LOOKS; count++) {
    const started = performance.now();
    await caller.call(tool, {});
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

/** Counts in a separate function process, because the meter would slow down the process whose time is measured. */
async function countReads(project: Project, worker: Caller, boss: McpCaller) {
  const meter = await openMeter(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
  const server = await serveFunction({
    ...musterFunction,
    env: { ...project.env, FIRESTORE_EMULATOR_HOST: meter.host },
  });
  const caller = new McpCaller(server.url, worker.credential);
  await caller.call('coordination.get_status', {}); // This call opens the connection, and has the credential checked.
  const looks: number[] = [];
  for (const { tool } of LOOKED_AT) {
    meter.take();
    await caller.call(tool, {});
    looks.push(readsOf(meter));
  }
  let claim = 0;
  const heldTaskIds: string[] = [];
  for (let count = 0; count < CLAIMS; count++) {
    const claimed = { agent_id: worker.agentId, in_hand: heldTaskIds };
    const { task } = await caller.call('coordination.claim_task', claimed);
    claim += readsOf(meter);
    if (typeof task === 'object' && task !== null && 'id' in task) heldTaskIds.push(String(task.id));
  }
  await Promise.all([server.end(), create(boss, CLAIMS)]);
  meter.close();
  return { claim: Math.round((claim / CLAIMS) * 100) / 100, looks };
}

function readsOf(meter: Meter): number {
  return meter.take().reduce((sum, call) => plus(sum, call.bill), NOTHING).reads;
}
