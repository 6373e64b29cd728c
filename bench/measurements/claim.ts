/** Time in which 32 workers claim 1,000 tasks, compared with 32 loops that need one query and one update per task. */
import { COLLECTIONS } from '../../functions/src/kernel/firestore/paths.ts';
import { bareQueue } from '../baselines/bareQueue.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, newProject, type Project } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';

const WORKERS = 32;
const TASKS = 1000;
const BATCH = 500;
const SCHEDULE: Schedule = { warmUps: 1, rounds: 5 };

/** Time limit for claims in transactions. Claiming all tasks in this way would take minutes. */
const CONTENDED_SECONDS = 20;

export async function measureClaim(): Promise<Measurement> {
  const project = newProject('claim');
  const [leader] = await addCallers(project, 'leader');
  if (leader === undefined) throw new Error('Missing leader.');
  const muster = await serveFunction({ ...musterFunction, env: project.env });
  const boss = new McpCaller(muster.url, leader.credential);
  const bare = bareQueue(newProject('bare-claim').firestore, { workers: WORKERS, tasks: TASKS });
  const drains = await alternate(
    SCHEDULE,
    async (round) => {
      const workers = await fill(project, boss, round);
      const callers = workers.map(({ agentId, credential }) => {
        const caller = new McpCaller(muster.url, credential);
        const heldTaskIds: string[] = [];
        return () => claimOne(caller, agentId, heldTaskIds);
      });
      const drain = await drainWith(callers);
      const left = await unclaimed(project);
      await project.firestore.recursiveDelete(project.firestore.collection(COLLECTIONS.tasks));
      return { ...drain, left };
    },
    async () => {
      await bare.fill();
      return { ...(await drainWith(bare.workers)), left: await bare.left() };
    },
  );
  await bare.fill();
  const contended = await bare.contendedPerSecond(CONTENDED_SECONDS);
  await muster.end();
  const perSecond = each(drains, (drain) => drain.perSecond);
  return {
    name: 'claim',
    title: `${WORKERS} workers claim ${TASKS} tasks`,
    ratio: ratioOf(perSecond),
    target: { kind: 'at least', value: 0.6 },
    figures: {
      'claims/s': spread(perSecond.ours),
      'claims/s of the baseline, in which each worker has separate tasks': spread(perSecond.baseline),
      'claims/s of transactions on one queue': contended,
    },
    faults: drains.ours.flatMap(faultsOf),
  };
}

/** Starts a new session, so that no worker holds a task, and creates the tasks of this round. */
async function fill(project: Project, boss: McpCaller, round: number) {
  const workers = await addCallers(project, 'worker', WORKERS);
  await boss.call('coordination.init_coordination', { goal: `Round ${round}` });
  for (let made = 0; made < TASKS; made += BATCH) {
    const tasks = Array.from({ length: BATCH }, (_, number) => ({
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
  readonly claimed: number;
  readonly twice: number;
}

/** Runs the loops concurrently. Each loop claims tasks until none is left. */
async function drainWith(claims: readonly (() => Promise<string | undefined>)[]): Promise<Drain> {
  const claimed: string[] = [];
  const started = performance.now();
  await Promise.all(
    claims.map(async (claim) => {
      for (let id = await claim(); id !== undefined; id = await claim()) claimed.push(id);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  const twice = claimed.length - new Set(claimed).size;
  return { perSecond: claimed.length / seconds, claimed: claimed.length, twice };
}

async function unclaimed({ firestore }: Project): Promise<number> {
  const available = firestore.collection(COLLECTIONS.tasks).where('status', '==', 'available');
  return (await available.count().get()).data().count;
}

function faultsOf({ claimed, twice, left }: Drain & { readonly left: number }): string[] {
  const faults = twice > 0 ? [`${twice} tasks were claimed twice`] : [];
  if (left > 0 || claimed !== TASKS) faults.push(`${claimed} tasks were claimed and ${left} were left`);
  return faults;
}
