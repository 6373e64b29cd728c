/**
 * `npm run bench [-- --json] [--write] [--only coldStart,overhead,list,read,event,subscriptions,claim,orchestration,scale,todo,todoScale,coding,cost]`. The emulators run
 * already; see docs/benchmarks.md. Standard output carries the findings and nothing else.
 */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { costTable, isCurrent, resultTable, write } from './documentation.ts';
import { type Measurement, passes } from './measurement.ts';
import { measureClaim } from './measurements/claim.ts';
import { measureCoding } from './measurements/coding.ts';
import { measureColdStart } from './measurements/coldStart.ts';
import { type CostMeasurement, type CostRow, measureCost } from './measurements/cost.ts';
import { measureEvent } from './measurements/event.ts';
import { measureOrchestration } from './measurements/orchestration.ts';
import { measureList, measureOverhead } from './measurements/overhead.ts';
import { measureRead } from './measurements/read.ts';
import { measureScale } from './measurements/scale.ts';
import { measureSubscriptions } from './measurements/subscriptions.ts';
import { measureTodo } from './measurements/todo.ts';
import { measureTodoScale } from './measurements/todoScale.ts';
import { reportJson, reportText } from './report.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const benchmarks: Readonly<Record<string, () => Promise<readonly Measurement[]>>> = {
  coldStart: async () => [await measureColdStart()],
  overhead: async () => [await measureOverhead()],
  list: async () => [await measureList()],
  read: async () => [await measureRead()],
  event: measureEvent,
  subscriptions: async () => [await measureSubscriptions()],
  claim: async () => [await measureClaim()],
  orchestration: measureOrchestration,
  scale: measureScale,
  todo: measureTodo,
  todoScale: measureTodoScale,
  coding: measureCoding,
  cost: async () => [documented(await measureCost())],
};

/** The page must show what was measured. */
function documented({
  rows,
  faults,
  ...measurement
}: CostMeasurement): Measurement & { rows: readonly CostRow[] } {
  const table = costTable(rows);
  if (values.write) write('cost', table);
  const stale = isCurrent(table) ? [] : ['docs/benchmarks.md shows another table: run it with --write'];
  return { ...measurement, rows, faults: [...faults, ...stale] };
}

/** One that breaks fails, and leaves the others their turn. */
function broken(name: string, error: unknown): Measurement {
  console.error(error);
  return {
    name,
    title: 'It broke.',
    figures: {},
    faults: [error instanceof Error ? error.message : String(error)],
  };
}

const [load = 0] = loadavg();
if (load > availableParallelism())
  console.error(`bench: this machine is busy (load ${load.toFixed(1)}), which disturbs the figures`);

const wanted = values.only?.split(',') ?? Object.keys(benchmarks);
const measurements: Measurement[] = [];
for (const name of wanted) {
  const benchmark = benchmarks[name];
  if (benchmark === undefined)
    throw new Error(`There is no benchmark "${name}", only ${Object.keys(benchmarks).join(', ')}.`);
  console.error(`bench: ${name}`);
  const found = await benchmark().catch((error: unknown) => [broken(name, error)]);
  measurements.push(...found);
  if (!values.json) for (const measurement of found) console.log(reportText(measurement));
}
if (values.json) console.log(reportJson(measurements, load));
if (values.write && values.only === undefined) write('results', resultTable(measurements));
// The Realtime Database's and Firestore's clients would keep the process alive.
process.exit(measurements.every(passes) ? 0 : 1);
