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
 * Runs a program with emulators of the databases and Auth. The benchmarks serve the built functions themselves, because
 * the functions emulator would start a process per concurrent request. Only the program prints to stdout.
 * @param {'bench' | 'eval'} kind
 * @param {string} program path of the program, from the root of the repository
 * @param {string[]} args
 */
export async function runWithDatabases(kind, program, args) {
  await runSession({ kind, interrupted: 130 }, async ({ run, say }) => {
    const node = await prepare({ run, say });
    await installTestLibraries({ env: run.env, say }); // for tokens and the measurement `screen`
    await installTestSchemas({ env: run.env, say });
    const output = openOutput(run, `${kind}-emulators`, { screen: false });
    const suite = await startSuite({ run, node, ports: await freePorts(), output, say, functions: false });
    const child = spawn(node, ['--disable-warning=ExperimentalWarning', `${root}/${program}`, ...args], {
      cwd: root,
      env: { ...process.env, ...run.env, ...suite.env },
      stdio: 'inherit',
    });
    return new Promise((resolve, reject) => {
      child.once('close', (code) => resolve(code ?? 1));
      suite.exited.then((reason) => reject(new Error(`${reason}; their log: ${output.file}`)));
    });
  });
}
