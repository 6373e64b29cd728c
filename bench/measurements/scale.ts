/** Whether a long queue costs more than a short one: claim_task and get_status, 10,000 tasks against 100. */
import { McpCaller } from '../load/client.ts';
import { type Measurement, median, spread } from '../measurement.ts';
import { alternate, type Rounds, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, type Caller, newProject, type Project } from '../seed.ts';
import { type FunctionServer, musterFunction, serveFunction } from '../servers/functionServer.ts';
import { NOTHING, plus } from '../wire/bill.ts';
import { type Meter, openMeter } from '../wire/meter.ts';

const SHORT = 100;
const LONG = 10_000;
const BATCH = 500;

/** Few enough that the short queue stays about as long as it is. One reading of the queue's head serves 11. */
const CLAIMS = 11;
const STATUSES = 11;
/** Many short rounds: the two queues then meet the same disturbances. */
const SCHEDULE: Schedule = { warmUps: 3, rounds: 25 };

export async function measureScale(): Promise<Measurement[]> {
  const [short, long] = [await openQueue('scale-short', SHORT), await openQueue('scale-long', LONG)];
  const claims = await alternate(
    SCHEDULE,
    () => long.medianClaim(),
    () => short.medianClaim(),
  );
  const statuses = await alternate(
    SCHEDULE,
    () => long.medianStatus(),
    () => short.medianStatus(),
  );
  const reads = { short: await short.reads(), long: await long.reads() };
  await Promise.all([short.end(), long.end()]);
  return [
    comparison('scale.claim', 'Median claim_task', claims, reads.short.claim, reads.long.claim),
    comparison('scale.status', 'Median get_status', statuses, reads.short.status, reads.long.status),
  ];
}

function comparison(name: string, what: string, times: Rounds, short: number, long: number): Measurement {
  return {
    name,
    title: `${what}, ${LONG} tasks queued against ${SHORT}`,
    ratio: ratioOf(times),
    target: { kind: 'at most', value: 1.3 },
    figures: {
      [`ms of ${LONG}`]: spread(times.ours),
      [`ms of ${SHORT}`]: spread(times.baseline),
      [`documents read a call of ${LONG}`]: long,
      [`documents read a call of ${SHORT}`]: short,
    },
    faults: short === long ? [] : [`${long} documents are read a call, not ${short}`],
  };
}

interface Queue {
  medianClaim(): Promise<number>;
  medianStatus(): Promise<number>;
  /** Documents read per call. */
  reads(): Promise<{ readonly claim: number; readonly status: number }>;
  end(): Promise<void>;
}

/** A project of its own with so many tasks queued, and a function that serves it. */
async function openQueue(name: string, tasks: number): Promise<Queue> {
  const project = newProject(name);
  const [leader] = await addCallers(project, 'leader');
  const [worker] = await addCallers(project, 'worker');
  if (leader === undefined || worker === undefined) throw new Error('There are no callers.');
  const server = await serveFunction({ ...musterFunction, env: project.env });
  const boss = new McpCaller(server.url, leader.credential);
  await create(boss, tasks);
  return {
    async medianClaim() {
      const milliseconds = await claimSome(server, worker);
      await create(boss, CLAIMS);
      return median(milliseconds);
    },
    medianStatus: async () => median(await statuses(server, worker)),
    reads: () => countReads(project, worker, boss),
    end: () => server.end(),
  };
}

async function create(boss: McpCaller, count: number): Promise<void> {
  for (let left = count; left > 0; left -= BATCH) {
    const tasks = Array.from({ length: Math.min(left, BATCH) }, (_, number) => ({
      description: `Task ${number}`,
    }));
    await boss.call('coordination.create_tasks_batch', { tasks });
  }
}

/** Claims and completes; tells what each claim took. */
async function claimSome(server: FunctionServer, { agentId, credential }: Caller): Promise<number[]> {
  const caller = new McpCaller(server.url, credential);
  const milliseconds: number[] = [];
  for (let count = 0; count < CLAIMS; count++) {
    const started = performance.now();
    const { task } = await caller.call('coordination.claim_task', { agent_id: agentId });
    milliseconds.push(performance.now() - started);
    if (typeof task !== 'object' || task === null || !('id' in task)) throw new Error('There was no task.');
    const report = { agent_id: agentId, task_id: task.id, output: 'done' };
    await caller.call('coordination.complete_task', report);
  }
  return milliseconds;
}

async function statuses(server: FunctionServer, { credential }: Caller): Promise<number[]> {
  const caller = new McpCaller(server.url, credential);
  const milliseconds: number[] = [];
  for (let count = 0; count < STATUSES; count++) {
    const started = performance.now();
    await caller.call('coordination.get_status', {});
    milliseconds.push(performance.now() - started);
  }
  return milliseconds;
}

/** Counts with a function of its own: the meter in between would slow the timed one down. */
async function countReads(project: Project, worker: Caller, boss: McpCaller) {
  const meter = await openMeter(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
  const server = await serveFunction({
    ...musterFunction,
    env: { ...project.env, FIRESTORE_EMULATOR_HOST: meter.host },
  });
  const caller = new McpCaller(server.url, worker.credential);
  await caller.call('coordination.get_status', {}); // connects, and checks the credential
  meter.take();
  await caller.call('coordination.get_status', {});
  const status = readsOf(meter);
  let claim = 0;
  for (let count = 0; count < CLAIMS; count++) {
    await caller.call('coordination.claim_task', { agent_id: worker.agentId });
    claim += readsOf(meter);
  }
  await Promise.all([server.end(), create(boss, CLAIMS)]);
  meter.close();
  return { claim: Math.round((claim / CLAIMS) * 100) / 100, status };
}

function readsOf(meter: Meter): number {
  return meter.take().reduce((sum, call) => plus(sum, call.bill), NOTHING).reads;
}
