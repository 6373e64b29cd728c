// @ts-check
import { spawn } from 'node:child_process';
import { openOutput } from '../emulators/output.mjs';
import { freePorts } from '../emulators/ports.mjs';
import { startSuite } from '../emulators/suite.mjs';
import { runSession } from '../processes/session.mjs';
import { root } from '../project.mjs';
import { installTestLibraries, installTestSchemas } from '../setup/install.mjs';
import { prepare } from '../setup/prepare.mjs';

/**
 * Runs the benchmarks with emulators of the databases and Auth. The benchmarks serve the built functions themselves,
 * because the functions emulator would start a process per concurrent request. Only the benchmarks print to stdout.
 * @param {string[]} args
 */
export async function runBenchmarks(args) {
  await runSession({ kind: 'bench', interrupted: 130 }, async ({ run, say }) => {
    const node = await prepare({ run, say });
    await installTestLibraries({ env: run.env, say }); // for the measurement `screen`
    await installTestSchemas({ env: run.env, say });
    const output = openOutput(run, 'bench-emulators', { screen: false });
    const suite = await startSuite({ run, node, ports: await freePorts(), output, say, functions: false });
    const benchmark = spawn(node, ['--disable-warning=ExperimentalWarning', `${root}/bench/main.ts`, ...args], {
      cwd: root,
      env: { ...process.env, ...run.env, ...suite.env },
      stdio: 'inherit',
    });
    return new Promise((resolve, reject) => {
      benchmark.once('close', (code) => resolve(code ?? 1));
      suite.exited.then((reason) => reject(new Error(`${reason}; their log: ${output.file}`)));
    });
  });
}
