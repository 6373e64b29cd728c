// @ts-check
import { renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runSession } from '../processes/session.mjs';
import { installDependencies } from '../setup/install.mjs';
import { node22 } from '../setup/node22.mjs';
import { prepare } from '../setup/prepare.mjs';
import { openOutput } from './output.mjs';
import { freePorts } from './ports.mjs';
import { exportIn, startSuite } from './suite.mjs';

/** @param {string[]} args */
export async function serveEmulators(args) {
  const { values } = parseArgs({
    args,
    options: {
      'ports-file': { type: 'string' },
      'without-functions': { type: 'boolean', default: false },
      import: { type: 'string' },
    },
  });
  const functions = !values['without-functions'];
  await runSession({ kind: 'emulators', interrupted: 0 }, async ({ run, say }) => {
    if (values.import !== undefined && exportIn(values.import) === undefined)
      throw new Error(`${values.import} is not an export of firebase emulators:export`);
    if (!functions) await installDependencies({ env: run.env, say });
    const node = functions ? await prepare({ run, say }) : node22();
    const output = openOutput(run, 'emulators-alone', { screen: false });
    const options = { run, node, ports: await freePorts(), output, say, functions, useLocalParameters: true };
    const suite = await startSuite({ ...options, ...(values.import && { importFrom: values.import }) });
    printEndpoint(JSON.stringify(suite.env, null, 2), values['ports-file'], run);
    say(await suite.exited);
    return 1;
  });
}

/** @param {string} json @param {string | undefined} file @param {import('../processes/run.mjs').Run} run */
function printEndpoint(json, file, run) {
  process.stdout.write(`${json}\n`);
  if (file === undefined) return;
  run.removeAtEnd(file);
  writeFileSync(`${file}.new`, json);
  renameSync(`${file}.new`, file);
}
