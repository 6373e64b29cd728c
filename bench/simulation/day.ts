/**
 * Simulates a team's working day with the real endpoint, the emulators and a simulated clock, and measures reads,
 * writes, calls, triggers and log entries per agent. Calls the triggers for the writes of each commit, as Eventarc
 * does.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Firestore } from '@google-cloud/firestore';
import { z } from 'zod';
import { Addresses } from '../../functions/src/access/rules/addresses.ts';
import { createAppEndpoint } from '../../functions/src/app.ts';
import { type Composition, compose } from '../../functions/src/composition/compose.ts';
import { externalServices } from '../../functions/src/composition/externalServices.ts';
import { createAnswers } from '../../functions/src/composition/instance.ts';
import { TOOLSETS } from '../../functions/src/identity/rules/principal.ts';
import { McpCaller } from '../load/client.ts';
import { median } from '../measurement.ts';
import { addCallers, newProject, type Project } from '../seed.ts';
import { type Bill, NOTHING, plus } from '../wire/bill.ts';
import { type Meter, openMeter } from '../wire/meter.ts';
import { type RealtimeBill, RealtimeMeter } from './realtimeMeter.ts';

const HOST = 'FIRESTORE_EMULATOR_HOST';
const MINUTE = 60_000;
export const DAY = { agents: 10, tasksEach: 20, minutesATask: 20 } as const;

/** Average costs per agent and day, and the cost of one sweep. */
export interface DayBill {
  readonly calls: number;
  readonly beats: number;
  readonly firestore: Bill;
  readonly realtime: RealtimeBill;
  /** Number of trigger invocations, whose Firestore operations are included in `firestore`. */
  readonly triggers: number;
  readonly logged: { readonly entries: number; readonly bytes: number };
  /** Number of credential checks, each of which reads four documents. A cached credential needs no check. */
  readonly checks: number;
  /** Cost of one sweep of the whole deployment when nothing is due. A sweep runs every minute. */
  readonly idleSweep: Bill;
  /** Documents that the median claim reads. The reads of the claim's triggers are not included. */
  readonly claimReads: number;
}

interface Books {
  firestore: Bill;
  triggers: number;
  checks: number;
  written: string[];
}

export async function measureDay(): Promise<DayBill> {
  const stage = await openStage();
  try {
    await stage.begin();
    const claims: number[] = [];
    for (let minute = 0; minute < DAY.tasksEach * DAY.minutesATask; minute++) {
      for (const [number, worker] of stage.workers.entries()) await stage.minute(worker, number, minute, claims);
      stage.pass(MINUTE);
    }
    return await stage.close(claims);
  } finally {
    await stage.end();
  }
}

const task = z.object({ task: z.object({ id: z.string() }) });

async function openStage() {
  const project = newProject('day');
  const [leader] = await addCallers(project, 'leader');
  const workers = await addCallers(project, 'worker', DAY.agents);
  if (leader === undefined) throw new Error('Missing leader.');
  const meter = await openMeter(process.env[HOST] ?? '');
  const realtime = new RealtimeMeter();
  await realtime.open();
  const logged = { entries: 0, bytes: 0 };
  let now = new Date();
  const instance = composed(project, meter, () => now, logged);
  const { server, url } = await serve(instance);
  const lead = new McpCaller(url, leader.credential);
  const callers = workers.map(({ agentId, credential }) => ({ agentId, caller: new McpCaller(url, credential) }));
  const heldTaskIds = new Map<string, string>();
  const total: Books = { firestore: NOTHING, triggers: 0, checks: 0, written: [] };
  let [calls, beats] = [0, 0];

  /** Records the cost of the previous call and of its triggers, and returns the cost of only the call. */
  const settle = async (): Promise<Bill> => {
    const own = book(meter, total);
    total.firestore = plus(total.firestore, own);
    while (total.written.length > 0) {
      const written = total.written.splice(0);
      for (const path of written) total.triggers += await follow(instance, project, path);
      total.firestore = plus(total.firestore, book(meter, total));
    }
    return own;
  };
  const call = async (by: McpCaller, tool: string, args: object) => {
    const answer = await by.call(tool, args);
    calls += 1;
    return { answer, reads: (await settle()).reads };
  };

  return {
    workers: callers,
    pass: (milliseconds: number) => {
      now = new Date(now.getTime() + milliseconds);
    },
    async begin() {
      await lead.call('coordination_init_coordination', { goal: 'A day', master_plan: 'Work' });
      for (const { agentId, caller } of callers)
        await caller.call('coordination_register_agent', { agent_id: agentId, role: 'worker' });
      book(meter, total);
      total.written = [];
      Object.assign(total, { firestore: NOTHING, triggers: 0, checks: 0 });
      Object.assign(logged, { entries: 0, bytes: 0 });
      realtime.take();
    },
    /** Makes a worker's calls of one minute: claims and starts a task, sends a heartbeat, or completes the task. */
    async minute({ agentId, caller }: (typeof callers)[number], number: number, minute: number, claims: number[]) {
      // Each worker starts its first task in a different minute.
      const at = (minute + 2 * number) % DAY.minutesATask;
      const held = heldTaskIds.get(agentId);
      if (at === 0 && held === undefined) {
        await call(lead, 'coordination_create_task', { description: `Work of minute ${minute}` });
        const claimed = await call(caller, 'coordination_claim_task', { agent_id: agentId });
        claims.push(claimed.reads);
        const { id } = task.parse(claimed.answer).task;
        heldTaskIds.set(agentId, id);
        await call(caller, 'coordination_start_task', { agent_id: agentId, task_id: id });
      } else if (at === DAY.minutesATask - 1 && held !== undefined) {
        await call(caller, 'coordination_complete_task', { agent_id: agentId, task_id: held, output: 'Done' });
        heldTaskIds.delete(agentId);
      } else {
        await call(caller, 'coordination_heartbeat', { agent_id: agentId });
        beats += 1;
      }
    },
    async close(claims: readonly number[]): Promise<DayBill> {
      const each = (amount: number) => amount / DAY.agents;
      const { firestore, triggers, checks } = total;
      const { writes, bytesDown } = realtime.take();
      const bill = {
        calls: each(calls),
        beats: each(beats),
        firestore: { reads: each(firestore.reads), writes: each(firestore.writes), deletes: each(firestore.deletes) },
        realtime: { writes: each(writes), bytesDown: each(bytesDown) },
        triggers: each(triggers),
        logged: { entries: each(logged.entries), bytes: each(logged.bytes) },
        checks: each(checks),
        claimReads: median(claims),
      };
      await instance.sweep();
      book(meter, total);
      await instance.sweep();
      return { ...bill, idleSweep: book(meter, total) };
    },
    async end() {
      await new Promise((resolve) => server.close(resolve));
      meter.close();
      await project.firestore.terminate();
    },
  };
}

/** Starts an instance whose Firestore operations are counted. */
function composed(
  { id }: Project,
  meter: Meter,
  now: () => Date,
  logged: { entries: number; bytes: number },
): Composition {
  const emulator = process.env[HOST] ?? '';
  // The SDK reads Firestore's address from the environment when a client is created, and ignores settings.
  process.env[HOST] = meter.host;
  const database = new Firestore({ projectId: id });
  process.env[HOST] = emulator;
  const note = (event: string, fields: Readonly<Record<string, unknown>>) => {
    logged.entries += 1;
    logged.bytes += Buffer.byteLength(JSON.stringify({ message: event, ...fields }));
  };
  const log = { info: note, warn: note, error: note };
  return compose({
    ...externalServices(),
    push: undefined,
    clock: { now },
    database,
    log,
    rateLimit: { perSecond: 100, burst: 500 },
  });
}

async function serve(instance: Composition): Promise<{ server: Server; url: string }> {
  const { log, randomness } = instance.kernel;
  const settings = {
    log,
    randomness,
    toolsetNames: TOOLSETS,
    addresses: new Addresses({ publicUrl: undefined, functionUrl: undefined }),
    firebase: { apiKey: 'none', authDomain: 'localhost', samplePeople: '[]', google: false },
    allowedOrigins: [],
    mountPath: undefined,
    trustedProxies: 0,
  };
  const answers = createAnswers(instance, settings);
  const endpoint = createAppEndpoint(settings, () => answers);
  const server = createServer((request, response) => void endpoint(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server is not listening.');
  return { server, url: `http://127.0.0.1:${address.port}/mcp` };
}

/** Records the cost and the written documents of all Firestore calls since the previous recording. */
function book(meter: Meter, books: Books): Bill {
  return meter.take().reduce((sum, { method, documents, bill }) => {
    const names = documents.map((name) => name.slice(name.indexOf('/documents/') + '/documents/'.length));
    if (method === 'Commit') books.written.push(...names);
    if (method === 'BatchGetDocuments' && names.some((name) => name.startsWith('credentials/'))) books.checks += 1;
    return plus(sum, bill);
  }, NOTHING);
}

/** Calls the triggers that fire for a written document, and returns their number. */
async function follow({ services }: Composition, { firestore }: Project, path: string): Promise<number> {
  const [collection, id = '', ...below] = path.split('/');
  if (below.length > 0) return 0;
  const after = (await firestore.doc(path).get()).data();
  switch (collection) {
    case 'tasks':
      await Promise.all([
        services.orchestration.runs.taskChanged(id),
        services.settleTask(id, after),
        services.mirrorQueuedTask(id),
      ]);
      return 1;
    case 'graph':
      await services.followGraph(after);
      return 1;
    case 'people':
      await services.mirrorPerson(id);
      return 1;
    default:
      return 0;
  }
}
