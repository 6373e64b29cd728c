/**
 * Compares listing and searching in a list of 50,000 to-dos with the same in a list of 100. The emulator scans the
 * whole collection for each query, while Firestore has an index. Therefore, the compared times do not include waiting
 * for Firestore. The numbers of documents read are compared, too.
 */
import { listBare, searchBare } from '../baselines/bareTodos.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';
import { addTodos, COMMON_WORD } from '../todoSeed.ts';
import { NOTHING, plus } from '../wire/bill.ts';
import { type MeteredCall, openMeter } from '../wire/meter.ts';

const FEW = 100;
const MANY = 50_000;
const LIMIT = 10;
/** Calls per round. Only the fastest call counts, because other load can only make a call slower. */
const LOOKS = 4;
const SCHEDULE: Schedule = { warmUps: 1, rounds: 7 };

/** Number of counted index entries that Firestore bills as one read. */
const ENTRIES_PER_READ = 1000;

const LOOKED_AT = [
  { name: 'list', tool: 'todo.list_tasks', args: {} },
  { name: 'search', tool: 'todo.search_tasks', args: { query: COMMON_WORD } },
] as const;

type Looked = (typeof LOOKED_AT)[number];

/** Times of a round's fastest call in milliseconds, and the documents read per call. */
interface Look {
  readonly inAll: number;
  readonly besideFirestore: number;
  readonly reads: number;
}

interface Owner {
  look(what: Looked): Promise<Look>;
  /** Returns the milliseconds that the same queries take without Muster. */
  bare(what: Looked): Promise<number>;
  end(): Promise<void>;
}

export async function measureTodoScale(): Promise<Measurement[]> {
  const few = await openOwner('todo-few', FEW);
  const many = await openOwner('todo-many', MANY);
  const measurements: Measurement[] = [];
  for (const what of LOOKED_AT) measurements.push(await compare(what, few, many));
  await Promise.all([few.end(), many.end()]);
  return measurements;
}

async function compare(what: Looked, few: Owner, many: Owner): Promise<Measurement> {
  const looks = await alternate(
    SCHEDULE,
    () => many.look(what),
    () => few.look(what),
  );
  const bare = { few: await few.bare(what), many: await many.bare(what) };
  const [own, inAll] = [each(looks, (look) => look.besideFirestore), each(looks, (look) => look.inAll)];
  const [fewReads, manyReads] = [looks.baseline[0]?.reads ?? 0, looks.ours[0]?.reads ?? 0];
  return {
    name: `todoScale.${what.name}`,
    title: `Time of ${what.tool} minus the wait for Firestore, with ${MANY} to-dos, compared with the time with ${FEW}`,
    ratio: ratioOf(own),
    target: { kind: 'at most', value: 1.5 },
    figures: {
      [`ms per call with ${MANY} to-dos`]: spread(own.ours),
      [`ms per call with ${FEW} to-dos`]: spread(own.baseline),
      [`ms per call with ${MANY}, including Firestore`]: spread(inAll.ours),
      [`ms per call with ${FEW}, including Firestore`]: spread(inAll.baseline),
      [`ms of the same queries without Muster, with ${MANY}`]: bare.many,
      [`ms of the same queries without Muster, with ${FEW}`]: bare.few,
      [`documents read per call with ${MANY}`]: manyReads,
      [`documents read per call with ${FEW}`]: fewReads,
    },
    faults:
      manyReads - fewReads > MANY / ENTRIES_PER_READ
        ? [`${manyReads} documents are read per call, more than ${fewReads} plus the reads of the count`]
        : [],
  };
}

async function openOwner(name: string, count: number): Promise<Owner> {
  const project = newProject(name);
  const [worker] = await addCallers(project, 'worker');
  if (worker === undefined) throw new Error('Missing caller.');
  await addTodos(project, count);
  const meter = await openMeter(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
  const server = await serveFunction({
    ...musterFunction,
    env: { ...project.env, FIRESTORE_EMULATOR_HOST: meter.host },
  });
  const caller = new McpCaller(server.url, worker.credential);
  return {
    async look({ tool, args }) {
      const looks: Look[] = [];
      for (let count = 0; count < LOOKS; count++) {
        // First makes a call in which the instance does its periodic work, so that this work is not measured.
        await caller.call('coordination.heartbeat', { agent_id: worker.agentId });
        meter.take();
        const began = performance.now();
        await caller.call(tool, { ...args, limit: LIMIT });
        looks.push(lookOf(began, performance.now(), meter.take()));
      }
      return {
        inAll: Math.min(...looks.map((look) => look.inAll)),
        besideFirestore: Math.min(...looks.map((look) => look.besideFirestore)),
        reads: Math.max(...looks.map((look) => look.reads)),
      };
    },
    async bare({ tool }) {
      const milliseconds: number[] = [];
      for (let count = 0; count < LOOKS; count++) {
        const began = performance.now();
        const { firestore } = project;
        await (tool === 'todo.list_tasks' ? listBare(firestore, LIMIT) : searchBare(firestore, COMMON_WORD, LIMIT));
        milliseconds.push(performance.now() - began);
      }
      return Math.min(...milliseconds);
    },
    async end() {
      await server.end();
      meter.close();
    },
  };
}

function lookOf(began: number, answered: number, calls: readonly MeteredCall[]): Look {
  const { reads } = calls.reduce((sum, call) => plus(sum, call.bill), NOTHING);
  const inAll = answered - began;
  return { inAll, besideFirestore: inAll - waitedFor(calls, answered), reads };
}

/** Returns for how long, before the tool's response, at least one call of Firestore was running. */
function waitedFor(calls: readonly MeteredCall[], answered: number): number {
  let [waited, until] = [0, 0];
  for (const { began, ended = answered } of calls) {
    const end = Math.min(ended, answered);
    waited += Math.max(0, end - Math.max(began, until));
    until = Math.max(until, end);
  }
  return waited;
}
