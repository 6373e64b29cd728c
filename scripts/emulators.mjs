// @ts-check
/**
 * The emulators alone, for a fast development loop:
 *
 *   node scripts/emulators.mjs [--ports-file env.json] [--without-functions]
 *
 * starts them on free ports, prints the environment that reaches them as one JSON object (and writes it to the
 * file), and runs until it is interrupted. `npm test` and the benchmark start theirs in the same way.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { openOutput } from './emulators/output.mjs';
import { freePorts } from './emulators/ports.mjs';
import { startSuite } from './emulators/suite.mjs';
import { onInterruption } from './processes/interruption.mjs';
import { closeAbandonedRuns, openRun } from './processes/run.mjs';
import { devDirectory } from './project.mjs';
import { node22 } from './setup/node22.mjs';

const { values } = parseArgs({
  options: { 'ports-file': { type: 'string' }, 'without-functions': { type: 'boolean', default: false } },
});

/** @param {string} message */
const say = (message) => process.stderr.write(`${message}\n`);

await closeAbandonedRuns();
const run = openRun('emulators');
let stopping = false;
/** @param {string} reason @param {number} code */
async function stop(reason, code) {
  if (stopping) return;
  stopping = true;
  say(`stopping: ${reason}`);
  await run.end();
  process.exit(code);
}
onInterruption((reason) => stop(reason, 0));
try {
  const suite = await startSuite({
    run,
    node: node22(),
    ports: await freePorts(),
    output: openOutput(`${devDirectory}/emulators-alone${run.suffix}.log`, { screen: false }),
    say,
    functions: !values['without-functions'],
  });
  suite.exited.then((reason) => stop(reason, 1));
  const json = JSON.stringify(suite.env, null, 2);
  const file = values['ports-file'];
  if (file !== undefined) {
    writeFileSync(`${file}.new`, json);
    renameSync(`${file}.new`, file);
    run.removeAtEnd(file);
  }
  process.stdout.write(`${json}\n`);
} catch (error) {
  await stop(error instanceof Error ? error.message : String(error), 1);
}
// Only its children keep it alive, and it has to outlive the moment between two of them.
setInterval(() => {}, 2 ** 30);
