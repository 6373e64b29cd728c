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
  /** Returns the times of a round's fastest call, and its reads. */
  look(what: Looked): Promise<Pick<Look, 'inAll' | 'outsideFirestore' | 'bill'>>;
  /** Returns the milliseconds that the same queries take without Muster. */
  bare(what: Looked): Promise<number>;
  end(): Promise<void>;
}

export function measureTodoScale(): Promise<Measurement[]> {
  return compareTodos('todoScale', { few: FEW, many: MANY, schedule: SCHEDULE, looks: 4, todoOf: todoNumber });
}

interface Sizes {
  readonly few: number;
  readonly many: number;
  readonly schedule: Schedule;
  /** Calls per round. Only the fastest call counts, because other load can only make a call slower. */
  readonly looks: number;
  readonly todoOf: typeof todoNumber;
}

/** Compares a person with few to-dos and a person with many. */
export async function compareTodos(name: string, sizes: Sizes): Promise<Measurement[]> {
  const few = await openOwner(`todo-${sizes.few}`, sizes.few, sizes);
  const many = await openOwner(`todo-${sizes.many}`, sizes.many, sizes);
  const measurements: Measurement[] = [];
  for (const what of LOOKED_AT)
    measurements.push({ ...(await compare(what, sizes, { few, many })), name: `${name}.${what.name}` });
  await Promise.all([few.end(), many.end()]);
  return measurements;
}

async function compare(
  what: Looked,
  sizes: Sizes,
  { few, many }: Record<'few' | 'many', Owner>,
): Promise<Omit<Measurement, 'name'>> {
  const looks = await alternate(
    sizes.schedule,
    () => many.look(what),
    () => few.look(what),
  );
  const bare = { few: await few.bare(what), many: await many.bare(what) };
  const [own, inAll] = [each(looks, (one) => one.outsideFirestore), each(looks, (one) => one.inAll)];
  const [fewReads, manyReads] = [looks.baseline[0]?.bill.reads ?? 0, looks.ours[0]?.bill.reads ?? 0];
  return {
    title: `Time of ${what.tool} minus the wait for Firestore, with ${sizes.many} to-dos, compared with the time with ${sizes.few}`,
    ratio: ratioOf(own),
    target: { kind: 'at most', value: 1.5 },
    figures: {
      'ratio of the whole time, including Firestore': ratioOf(inAll),
      [`ms per call with ${sizes.many} to-dos`]: spread(own.ours),
      [`ms per call with ${sizes.few} to-dos`]: spread(own.baseline),
      [`ms per call with ${sizes.many}, including Firestore`]: spread(inAll.ours),
      [`ms per call with ${sizes.few}, including Firestore`]: spread(inAll.baseline),
      [`ms of the same queries without Muster, with ${sizes.many}`]: bare.many,
      [`ms of the same queries without Muster, with ${sizes.few}`]: bare.few,
      [`documents read per call with ${sizes.many}`]: manyReads,
      [`documents read per call with ${sizes.few}`]: fewReads,
    },
    faults:
      manyReads - fewReads > sizes.many / ENTRIES_PER_READ
        ? [`${manyReads} documents are read per call, more than ${fewReads} plus the reads of the count`]
        : [],
  };
}

async function openOwner(
  name: string,
  count: number,
  { looks: times, todoOf }: Pick<Sizes, 'looks' | 'todoOf'>,
): Promise<Owner> {
  const project = newProject(name);
  const worker = await addCaller(project, 'worker');
  await addTodos(project, count, todoOf);
  const { url, meter, end } = await serveMetered(project);
  const caller = new McpCaller(url, worker.credential);
  return {
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
