/**
 * `npm run bench [-- --json] [--write] [--only overhead,claim] [--minutes 30]`. The emulators are
 * already running; see docs/benchmarks.md. Standard output contains only the results.
 */
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { costTable, isCurrent, resultText, shownFigures, write } from './documentation.ts';
import { originNow, regressionsOf, storedFigures, storeFigures, withFigures } from './figures.ts';
import type { Measurement } from './measurement.ts';
import { measureClaim } from './measurements/claim.ts';
import { measureCoding } from './measurements/coding.ts';
import { measureColdStart } from './measurements/coldStart.ts';
import { type CostMeasurement, type CostRow, measureCost } from './measurements/cost.ts';
import { measureEvent } from './measurements/event.ts';
import { measureIdle } from './measurements/idle.ts';
import { measureLoad } from './measurements/load.ts';
import { measureOrchestration } from './measurements/orchestration.ts';
import { measureList, measureOverhead } from './measurements/overhead.ts';
import { measurePubsub } from './measurements/pubsub.ts';
import { measureRead } from './measurements/read.ts';
import { measureRunnerLine } from './measurements/runnerLine.ts';
import { measureRunning, type RunningMeasurement } from './measurements/running.ts';
import { measureScale } from './measurements/scale.ts';
import { measureScaleLarge, measureTodoScaleLarge } from './measurements/scaleLarge.ts';
import { measureScreen } from './measurements/screen.ts';
import { measureSubscriptions } from './measurements/subscriptions.ts';
import { measureTodo } from './measurements/todo.ts';
import { measureTodoScale } from './measurements/todoScale.ts';
import { measureTokens } from './measurements/tokens.ts';
import { lineJson, reportText, verdictText } from './report.ts';
import { type Benchmarks, Run } from './run.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
    /** Duration of the benchmark `load`. */
    minutes: { type: 'string', default: '3' },
  },
});

/** Benchmarks that need tens of minutes or much memory. */
const ONLY_IF_NAMED = ['scaleLarge', 'todoScaleLarge'];

const benchmarks: Benchmarks = {
  coldStart: measureColdStart,
  overhead: async () => [await measureOverhead()],
  list: async () => [await measureList()],
  read: async () => [await measureRead()],
  event: measureEvent,
  subscriptions: async () => [await measureSubscriptions()],
  claim: measureClaim,
  orchestration: measureOrchestration,
  scale: measureScale,
  todo: measureTodo,
  todoScale: measureTodoScale,
  coding: measureCoding,
  runnerLine: async () => [await measureRunnerLine()],
  screen: async () => [await measureScreen()],
  tokens: async () => [await measureTokens()],
  load: async () => [await measureLoad(Number(values.minutes))],
  pubsub: async () => [await measurePubsub()],
  idle: async () => [await measureIdle()],
  scaleLarge: measureScaleLarge,
  todoScaleLarge: measureTodoScaleLarge,
  cost: async () => [documented(await measureCost())],
  running: async () => [shown(await measureRunning())],
};

/** Adds a fault if the costs on the documentation page differ from the measured costs. */
function documented({
  rows,
  faults = [],
  ...measurement
}: CostMeasurement): Measurement & { rows: readonly CostRow[] } {
  const table = costTable(rows);
  if (values.write) write('cost', table);
  const stale = isCurrent('cost', table) ? [] : ['The costs in docs/benchmarks.md are outdated. Run with --write.'];
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

const figures = storedFigures();
const origin = originNow();
const names = values.only?.split(',') ?? Object.keys(benchmarks).filter((name) => !ONLY_IF_NAMED.includes(name));

const run = new Run({
  benchmarks,
  // Stored figures come from two runs, so that the page shows by how much two runs differ.
  wanted: values.write ? [...names, ...names] : names,
  begins: (name) => console.error(`bench: ${name}`),
  regressions: (measurement) => regressionsOf(measurement, figures, origin.machine),
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
if (values.write) {
  storeFigures(withFigures(figures, origin, run.measurements));
  write('results', resultText(storedFigures()));
  write('figures', shownFigures(storedFigures()));
}
end();
