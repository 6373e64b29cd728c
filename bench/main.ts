/**
 * `npm run bench [-- --json] [--write] [--only coldStart,overhead,list,read,event,subscriptions,claim,orchestration,scale,todo,todoScale,coding,cost,running]`. The emulators are
 * already running; see docs/benchmarks.md. Standard output contains only the results.
 */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { costTable, isCurrent, resultTable, write } from './documentation.ts';
import type { Measurement } from './measurement.ts';
import { measureClaim } from './measurements/claim.ts';
import { measureCoding } from './measurements/coding.ts';
import { measureColdStart } from './measurements/coldStart.ts';
import { type CostMeasurement, type CostRow, measureCost } from './measurements/cost.ts';
import { measureEvent } from './measurements/event.ts';
import { measureOrchestration } from './measurements/orchestration.ts';
import { measureList, measureOverhead } from './measurements/overhead.ts';
import { measureRead } from './measurements/read.ts';
import { measureRunning, type RunningMeasurement } from './measurements/running.ts';
import { measureScale } from './measurements/scale.ts';
import { measureSubscriptions } from './measurements/subscriptions.ts';
import { measureTodo } from './measurements/todo.ts';
import { measureTodoScale } from './measurements/todoScale.ts';
import { lineJson, reportText, verdictText } from './report.ts';
import { type Benchmarks, Run } from './run.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});

const benchmarks: Benchmarks = {
  coldStart: measureColdStart,
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
  running: async () => [shown(await measureRunning())],
};

/** Adds a fault if the costs on the documentation page differ from the measured costs. */
function documented({ rows, faults, ...measurement }: CostMeasurement): Measurement & { rows: readonly CostRow[] } {
  const table = costTable(rows);
  if (values.write) write('cost', table);
  const stale = isCurrent(table) ? [] : ['The costs in docs/benchmarks.md are outdated. Run with --write.'];
  return { ...measurement, rows, faults: [...faults, ...stale] };
}

/** With --write, updates the page. Old figures are not a fault, because figures differ slightly between runs. */
function shown({ page, ...measurement }: RunningMeasurement): Measurement {
  if (values.write) write('running', page);
  return measurement;
}

const [load = 0] = loadavg();
if (load > availableParallelism())
  console.error(`bench: this machine is busy (load ${load.toFixed(1)}), so the results are unreliable`);

const run = new Run({
  benchmarks,
  wanted: values.only?.split(',') ?? Object.keys(benchmarks),
  begins: (name) => console.error(`bench: ${name}`),
  measured: (measurement) => console.log(values.json ? lineJson(measurement) : reportText(measurement)),
});

/** Exits explicitly, because open database clients would keep the process running. */
function end(): never {
  const verdict = run.verdict();
  console.log(values.json ? JSON.stringify({ ...verdict, load }) : verdictText(verdict));
  return process.exit(verdict.pass ? 0 : 1);
}

// An uncaught exception fails the current measurement and ends the run.
process.on('uncaughtException', (error) => {
  run.breaks(error);
  end();
});
await run.toEnd();
if (values.write && values.only === undefined) write('results', resultTable(run.measurements));
end();
