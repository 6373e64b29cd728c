/** Calls of the to-do tools, compared with a bare function that makes the same Firestore operations. */
import { fileURLToPath } from 'node:url';
import { idOf, McpCaller, post } from '../load/client.ts';
import { type Measurement, spread } from '../measurement.ts';
import { alternate, type Rounds, ratioOf, type Schedule } from '../rounds.ts';
import { addCallers, newProject } from '../seed.ts';
import { musterFunction, serveFunction } from '../servers/functionServer.ts';
import { addTodos } from '../todoSeed.ts';

const CALLERS = 16;
/** Calls per caller and round. */
const CALLS = 20;
const TODOS = 100;
const LIMIT = 10;
const SCHEDULE: Schedule = { warmUps: 2, rounds: 7 };

/** Listing is first, while both projects have equally many to-dos, because the emulator scans all of them. */
const ACTS = [
  { name: 'list', what: `list_tasks, ${LIMIT} of ${TODOS}` },
  { name: 'add', what: 'add_task, with a due date' },
  { name: 'complete', what: 'complete_task of an occurrence, which creates the next occurrence' },
] as const;

/** One call of each tool, by its name in `ACTS`. */
type Acts = Readonly<Record<(typeof ACTS)[number]['name'], () => Promise<unknown>>>;
const bareFunction = fileURLToPath(new URL('../baselines/bareTodosFunction.ts', import.meta.url));

export async function measureTodo(): Promise<Measurement[]> {
  const [project, bareProject] = [newProject('todo'), newProject('bare-todo')];
  const workers = await addCallers(project, 'worker', CALLERS);
  await Promise.all([project, bareProject].map((each) => addTodos(each, TODOS)));
  const muster = await serveFunction({ ...musterFunction, env: project.env });
  const bare = await serveFunction({ source: bareFunction, target: 'todos', env: bareProject.env });
  const ours = await Promise.all(
    workers.map(({ credential }, number) => actsOf(new McpCaller(muster.url, credential), number)),
  );
  const baseline = workers.map((_, number) => bareActsOf(bare.url, number));
  const measurements: Measurement[] = [];
  for (const { name, what } of ACTS) {
    const rates = await alternate(
      SCHEDULE,
      () => perSecond(ours.map((acts) => acts[name])),
      () => perSecond(baseline.map((acts) => acts[name])),
    );
    measurements.push(comparison(`todo.${name}`, what, rates));
  }
  await Promise.all([muster.end(), bare.end()]);
  return measurements;
}

async function actsOf(caller: McpCaller, number: number): Promise<Acts> {
  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
  const created = await caller.call('todo.create_recurring_task', {
    title: `Daily ${number}`,
    frequency: 'DAILY',
    start_date: tomorrow(),
  });
  let [latest, added] = [idOf(created['first_occurrence']), 0];
  return {
    async add() {
      added += 1;
      const title = `Number ${added} of ${number}`;
      await caller.call('todo.add_task', { title, due_date: tomorrow(), tags: ['work', 'even'] });
    },
    async complete() {
      const { next_occurrence } = await caller.call('todo.complete_task', { task_id: latest });
      latest = idOf(next_occurrence);
    },
    async list() {
      const { tasks } = await caller.call('todo.list_tasks', { limit: LIMIT });
      if (!Array.isArray(tasks) || tasks.length !== LIMIT) throw new Error('The list is incomplete.');
    },
  };
}

function bareActsOf(url: string, caller: number): Acts {
  const ask = (act: keyof Acts) => async () => {
    const { status, text } = await post(url, { 'content-type': 'application/json' }, JSON.stringify({ caller, act }));
    if (status !== 200) throw new Error(`The bare function responded with ${status}: ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };
  return { add: ask('add'), complete: ask('complete'), list: ask('list') };
}

/** Runs all calls concurrently, and returns the number of calls per second. */
async function perSecond(acts: readonly (() => Promise<unknown>)[]): Promise<number> {
  const started = performance.now();
  await Promise.all(
    acts.map(async (act) => {
      for (let count = 0; count < CALLS; count++) await act();
    }),
  );
  return (acts.length * CALLS * 1000) / (performance.now() - started);
}

function comparison(name: string, what: string, rates: Rounds): Measurement {
  return {
    name,
    title: `${what}, by ${CALLERS} callers`,
    ratio: ratioOf(rates),
    target: { kind: 'at least', value: 0.6 },
    figures: { 'calls/s': spread(rates.ours), 'calls/s of the baseline': spread(rates.baseline) },
  };
}
