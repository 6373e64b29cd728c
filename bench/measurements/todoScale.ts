/**
 * Compares listing and searching in a list of 50,000 to-dos with the same in a list of 100. The emulator scans the
 * whole collection for each query, while Firestore has an index. Therefore, the compared times do not include waiting
 * for Firestore. The numbers of documents read are compared, too.
 */
import { listBare, searchBare } from '../baselines/bareTodos.ts';
import { McpCaller } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, each, ratioOf, type Schedule } from '../rounds.ts';
import { addCaller, newProject } from '../seed.ts';
import { serveMetered } from '../servers/meteredServer.ts';
import { addTodos, COMMON_WORD, todoNumber } from '../todoSeed.ts';
import { NOTHING } from '../wire/bill.ts';
import { type Look, look } from '../wire/look.ts';

const FEW = 100;
const MANY = 50_000;
const LIMIT = 10;
const SCHEDULE: Schedule = { warmUps: 1, rounds: 7 };

/** Number of counted index entries that Firestore bills as one read. */
const ENTRIES_PER_READ = 1000;

const LOOKED_AT = [
  { name: 'list', tool: 'todo.list_tasks', args: {} },
  { name: 'search', tool: 'todo.search_tasks', args: { query: COMMON_WORD } },
] as const;
type Looked = (typeof LOOKED_AT)[number];

interface Owner {
  /** Number of to-dos. */
  readonly size: number;
  /** Returns the times of a round's fastest call, and its reads. */
  look(what: Looked): Promise<Pick<Look, 'inAll' | 'outsideFirestore' | 'bill'>>;
  /** Returns the milliseconds that the same queries take without Muster. */
  bare(what: Looked): Promise<number>;
  end(): Promise<void>;
}

export async function measureTodoScale(): Promise<Measurement[]> {
  const owners = await openOwners({ few: FEW, many: MANY, looks: 4, todoOf: todoNumber });
  const measurements = await compareTodos('todoScale', owners, SCHEDULE);
  await Promise.all([owners.few.end(), owners.many.end()]);
  return measurements;
}

interface Sizes {
  readonly few: number;
  readonly many: number;
  /** Calls per round. Only the fastest call counts, because other load can only make a call slower. */
  readonly looks: number;
  readonly todoOf: typeof todoNumber;
}

interface Owners {
  readonly few: Owner;
  readonly many: Owner;
}

/** Creates a person with few to-dos and a person with many. */
export async function openOwners(sizes: Sizes): Promise<Owners> {
  return { few: await openOwner(sizes.few, sizes), many: await openOwner(sizes.many, sizes) };
}

export async function compareTodos(name: string, owners: Owners, schedule: Schedule): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const what of LOOKED_AT)
    measurements.push({ ...(await compare(what, owners, schedule)), name: `${name}.${what.name}` });
  return measurements;
}

async function compare(what: Looked, { few, many }: Owners, schedule: Schedule): Promise<Omit<Measurement, 'name'>> {
  const looks = await alternate(
    schedule,
    () => many.look(what),
    () => few.look(what),
  );
  const bare = { few: await few.bare(what), many: await many.bare(what) };
  const [own, inAll] = [each(looks, (one) => one.outsideFirestore), each(looks, (one) => one.inAll)];
  const [fewReads, manyReads] = [looks.baseline[0]?.bill.reads ?? 0, looks.ours[0]?.bill.reads ?? 0];
  return {
    title: `Time of ${what.tool} minus the wait for Firestore, with ${many.size} to-dos, compared with the time with ${few.size}`,
    ratio: ratioOf(own),
    target: { kind: 'at most', value: 1.5 },
    figures: {
      'ratio of the whole time, including Firestore': ratioOf(inAll),
      [`ms per call with ${many.size} to-dos`]: spread(own.ours),
      [`ms per call with ${few.size} to-dos`]: spread(own.baseline),
      [`ms per call with ${many.size}, including Firestore`]: spread(inAll.ours),
      [`ms per call with ${few.size}, including Firestore`]: spread(inAll.baseline),
      [`ms of the same queries without Muster, with ${many.size}`]: bare.many,
      [`ms of the same queries without Muster, with ${few.size}`]: bare.few,
      [`documents read per call with ${many.size}`]: manyReads,
      [`documents read per call with ${few.size}`]: fewReads,
    },
    faults:
      manyReads - fewReads > many.size / ENTRIES_PER_READ
        ? [`${manyReads} documents are read per call, more than ${fewReads} plus the reads of the count`]
        : [],
  };
}

async function openOwner(size: number, { looks: times, todoOf }: Pick<Sizes, 'looks' | 'todoOf'>): Promise<Owner> {
  const project = newProject(`todo-${size}`);
  const worker = await addCaller(project, 'worker');
  await addTodos(project, size, todoOf);
  const { url, meter, end } = await serveMetered(project);
  const caller = new McpCaller(url, worker.credential);
  return {
    size,
    async look({ tool, args }) {
      const looks: Look[] = [];
      for (let count = 0; count < times; count++) {
        // First makes a call in which the instance does its periodic work, so that this work is not measured.
        await caller.call('coordination.heartbeat', { agent_id: worker.agentId });
        looks.push(await look(meter, () => caller.call(tool, { ...args, limit: LIMIT })));
      }
      const [most = NOTHING] = looks.map(({ bill }) => bill).sort((one, other) => other.reads - one.reads);
      return {
        inAll: Math.min(...looks.map((one) => one.inAll)),
        outsideFirestore: Math.min(...looks.map((one) => one.outsideFirestore)),
        bill: most,
      };
    },
    async bare({ tool }) {
      const milliseconds: number[] = [];
      for (let count = 0; count < times; count++) {
        const began = performance.now();
        const { firestore } = project;
        await (tool === 'todo.list_tasks' ? listBare(firestore, LIMIT) : searchBare(firestore, COMMON_WORD, LIMIT));
        milliseconds.push(performance.now() - began);
      }
      return Math.min(...milliseconds);
    },
    end,
  };
}
