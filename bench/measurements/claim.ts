/**
 * Time in which 32 workers claim 1,000 tasks, compared with 32 loops that need one query and one update per task. Also
 * the latency of claims at half of that rate, and the bytes and Firestore operations of a claimed and completed task.
 */
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { bareQueue } from '../baselines/bareQueue.ts';
import { latenciesAt } from '../load/arrivals.ts';
import { bytesOnTheWire, idOf, McpCaller } from '../load/client.ts';
import { type Measurement, median, percentile, spread } from '../measurement.ts';
import { createTasks } from '../queue.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';
import { addCaller, addCallers, newProject, type Project } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';
import { serveMetered } from '../servers/meteredServer.ts';
import { type Look, look } from '../wire/look.ts';

const WORKERS = 32;
const BATCH = 500;

interface Length {
  readonly schedule: Schedule;
  /** Tasks per round. */
  readonly tasks: number;
  /** Time limit for claims in transactions. Claiming all tasks in this way would take minutes. */
  readonly contendedSeconds: number;
}

const LENGTH: Length = { schedule: { warmUps: 1, rounds: 5 }, tasks: 1000, contendedSeconds: 20 };

/** Number of measured tasks that one worker claims, starts and completes. */
const CYCLES = 30;
const WARM_UP_CYCLES = 5;

type Claim = () => Promise<string | undefined>;

export async function measureClaim({ schedule, tasks, contendedSeconds } = LENGTH): Promise<Measurement[]> {
  const project = newProject('claim');
  const leader = await addCaller(project, 'leader');
  const muster = await serveFunction({ ...musterFunction, env: project.env });
  const boss = new McpCaller(muster.url, leader.credential);
  const claimsOf = async (round: number): Promise<Claim[]> =>
    (await fill(project, boss, { tasks, round })).map(({ agentId, credential }) => {
      const caller = new McpCaller(muster.url, credential);
      const heldTaskIds: string[] = [];
      return () => claimOne(caller, agentId, heldTaskIds);
    });
  const bare = bareQueue(newProject('bare-claim').firestore, { workers: WORKERS, tasks });
  const drains = await alternate(
    schedule,
    async (round) => {
      const claims = await claimsOf(round);
      const drain = await drainWith(claims, () => muster.cpuSeconds());
      const left = await unclaimed(project);
      await project.firestore.recursiveDelete(project.firestore.collection(COLLECTIONS.tasks));
      return { ...drain, left };
    },
    async () => {
      await bare.fill();
      // The baseline runs in this process.
      return { ...(await drainWith(bare.workers, ownCpuSeconds)), left: await bare.left() };
    },
  );
  const perSecond = each(drains, (drain) => drain.perSecond);
  const cpu = each(drains, (drain) => drain.cpuMilliseconds);
  const rate = median(perSecond.ours) / 2;
  const latencies = await alternate(
    { ...schedule, warmUps: 0 },
    async (round) => {
      const steady = await claimSteadily(await claimsOf(schedule.rounds + round), rate, tasks);
      await project.firestore.recursiveDelete(project.firestore.collection(COLLECTIONS.tasks));
      return steady;
    },
    async () => {
      await bare.fill();
      return claimSteadily(bare.workers, rate, tasks);
    },
  );
  await bare.fill();
  // Transactions may continue after their time, so they come last.
  const contended = await bare.contendedPerSecond(contendedSeconds);
  const latency = (share: number) => each(latencies, ({ milliseconds }) => percentile(milliseconds, share));
  const empty = [...latencies.ours, ...latencies.baseline].reduce((sum, round) => sum + round.empty, 0);
  await muster.end();
  const whole: Measurement = {
    name: 'claim',
    title: `${WORKERS} workers claim ${tasks} tasks`,
    ratio: ratioOf(perSecond),
    target: { kind: 'at least', value: 0.9 },
    figures: {
      'claims/s': spread(perSecond.ours),
      'claims/s of the baseline, in which each worker has separate tasks': spread(perSecond.baseline),
      'claims/s of transactions on one queue': contended,
      'ratio of the CPU time per claim of the baseline to that of Muster': ratioOf({
        ours: cpu.baseline,
        baseline: cpu.ours,
      }),
      'CPU ms per claim': spread(cpu.ours),
      'CPU ms per claim of the baseline': spread(cpu.baseline),
      'ms per claim, median': spread(drains.ours.map(({ milliseconds }) => percentile(milliseconds, 0.5))),
      'ms per claim, 99th percentile': spread(drains.ours.map(({ milliseconds }) => percentile(milliseconds, 0.99))),
    },
    reason:
      'A claim reads three documents and writes four, while the baseline makes one query and one write. By a CPU profile of the function, the Firestore client and gRPC take 35 percent of its time, Node and the garbage collector 39 percent, and the code of Muster with the validation of documents 22 percent. Next step: fewer writes per claim.',
    faults: drains.ours.flatMap((drain) => faultsOf(drain, tasks)),
  };
  const half: Measurement = {
    name: 'claim.half',
    title: 'Latency of claims that arrive at half of the rate of `claim`, from the arrival to the response',
    figures: {
      'claims/s': rate,
      'ms per claim, median': spread(latency(0.5).ours),
      'ms per claim of the baseline, median': spread(latency(0.5).baseline),
      'ms per claim, 99th percentile': spread(latency(0.99).ours),
      'ms per claim of the baseline, 99th percentile': spread(latency(0.99).baseline),
    },
    figureTargets: { 'ms per claim, 99th percentile': { kind: 'at most', value: 50 } },
    reason:
      'The slowest claims of the baseline take as long: both wait for queries and garbage collections of the emulator, which uses the same processor. Next step: measure against Firestore.',
    faults: empty === 0 ? [] : [`${empty} claims found no task`],
  };
  return [whole, half, await measureCycle()];
}

/**
 * Returns the latencies of claims that arrive at a rate, and the number of claims that found no task. The first claim
 * of each new worker does not count. One task per worker is left, because workers of the baseline have separate tasks.
 */
async function claimSteadily(claims: readonly Claim[], perSecond: number, tasks: number) {
  let empty = 0;
  const checked = claims.map((claim) => async () => {
    if ((await claim()) === undefined) empty++;
  });
  await Promise.all(checked.map((claim) => claim()));
  const milliseconds = await latenciesAt(perSecond, tasks - 2 * claims.length, checked);
  return { milliseconds, empty };
}

function ownCpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** One worker claims, starts and completes tasks one after the other. */
async function measureCycle(): Promise<Measurement> {
  const project = newProject('claim-cycle');
  const leader = await addCaller(project, 'leader');
  const worker = await addCaller(project, 'worker');
  const { url, meter, end } = await serveMetered(project);
  await createTasks(new McpCaller(url, leader.credential), WARM_UP_CYCLES + CYCLES);
  const caller = new McpCaller(url, worker.credential);
  const cycle = async (): Promise<void> => {
    const own = { agent_id: worker.agentId };
    const { task } = await caller.call('coordination.claim_task', own);
    const held = { ...own, task_id: idOf(task) };
    await caller.call('coordination.start_task', held);
    await caller.call('coordination.complete_task', { ...held, output: 'done' });
  };
  const looks: (Look & { readonly sent: number })[] = [];
  for (let count = 0; count < WARM_UP_CYCLES + CYCLES; count++) {
    const before = bytesOnTheWire();
    const one = await look(meter, cycle);
    if (count >= WARM_UP_CYCLES) looks.push({ ...one, sent: bytesOnTheWire() - before });
  }
  await end();
  const figure = (number: (one: Look & { readonly sent: number }) => number) => spread(looks.map(number));
  return {
    name: 'claim.cycle',
    title: 'One worker claims, starts and completes a task',
    figures: {
      'Firestore reads, writes and deletes': figure(({ bill }) => bill.reads + bill.writes + bill.deletes),
      'bytes of HTTP requests and responses': figure(({ sent }) => sent),
      'bytes of messages to and from Firestore': figure(({ bytes }) => bytes),
      'ms of the three calls': figure(({ inAll }) => inAll),
      'ms outside Firestore': figure(({ outsideFirestore }) => outsideFirestore),
    },
    figureTargets: { 'Firestore reads, writes and deletes': { kind: 'at most', value: 14 } },
  };
}

/** Starts a new session, so that no worker holds a task, and creates the tasks of this round. */
async function fill(project: Project, boss: McpCaller, { tasks: count, round }: { tasks: number; round: number }) {
  const workers = await addCallers(project, 'worker', WORKERS);
  await boss.call('coordination.init_coordination', { goal: `Round ${round}` });
  for (let made = 0; made < count; made += BATCH) {
    const tasks = Array.from({ length: Math.min(BATCH, count - made) }, (_, number) => ({
      description: `Task ${made + number}`,
      priority: 1 + (number % 10),
    }));
    await boss.call('coordination.create_tasks_batch', { tasks });
  }
  return workers;
}

/** Claims another task. Adds the task's id to the list of held tasks, and returns the id. */
async function claimOne(caller: McpCaller, agentId: string, heldTaskIds: string[]): Promise<string | undefined> {
  const claim = { agent_id: agentId, in_hand: heldTaskIds };
  const { task } = await caller.call('coordination.claim_task', claim);
  if (typeof task !== 'object' || task === null || !('id' in task)) return undefined;
  const id = String(task.id);
  heldTaskIds.push(id);
  return id;
}

interface Drain {
  readonly perSecond: number;
  readonly cpuMilliseconds: number;
  readonly milliseconds: readonly number[];
  readonly claimed: number;
  readonly twice: number;
}

/** Runs the loops concurrently. Each loop claims tasks until none is left. */
async function drainWith(claims: readonly Claim[], cpuSeconds: () => number): Promise<Drain> {
  const claimed: string[] = [];
  const milliseconds: number[] = [];
  const [started, cpuBefore] = [performance.now(), cpuSeconds()];
  await Promise.all(
    claims.map(async (claim) => {
      for (;;) {
        const began = performance.now();
        const id = await claim();
        if (id === undefined) return;
        milliseconds.push(performance.now() - began);
        claimed.push(id);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return {
    perSecond: claimed.length / seconds,
    cpuMilliseconds: ((cpuSeconds() - cpuBefore) * 1000) / claimed.length,
    milliseconds,
    claimed: claimed.length,
    twice: claimed.length - new Set(claimed).size,
  };
}

async function unclaimed({ firestore }: Project): Promise<number> {
  const available = firestore.collection(COLLECTIONS.tasks).where('status', '==', 'available');
  return (await available.count().get()).data().count;
}

function faultsOf({ claimed, twice, left }: Drain & { readonly left: number }, tasks: number): string[] {
  const faults = twice > 0 ? [`${twice} tasks were claimed twice`] : [];
  if (left > 0 || claimed !== tasks) faults.push(`${claimed} tasks were claimed and ${left} were left`);
  return faults;
}
