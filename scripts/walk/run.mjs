// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openOutput } from '../emulators/output.mjs';
import { freePorts } from '../emulators/ports.mjs';
import { startSuite } from '../emulators/suite.mjs';
import { runSession } from '../processes/session.mjs';
import { root } from '../project.mjs';
import { installDependencies } from '../setup/install.mjs';
import { node22 } from '../setup/node22.mjs';

const usage = `npm run walk -- <tool> [--json]

Calls a tool once, with the arguments of its example, and lists what the call entered: the files of
functions/src in the order in which it came to them, and the functions with their lines. The call is a
request to the endpoint, over the emulators, which end with the command. The tool has been called before,
so that nothing is listed which an instance does only once.

  <tool>   as /mcp lists it: coordination_claim_task, firebase_read
  --json   the list as JSON

docs/architecture.md draws the same way for every call.
`;

/** Calls are counted, so nothing else may run in the process: the emulators are children of this one. @param {string[]} args */
export async function runWalk(args) {
  if (args.includes('--help') || !args.some((arg) => !arg.startsWith('-'))) {
    process.stdout.write(usage);
    process.exit(args.includes('--help') ? 0 : 1);
  }
  await runSession({ kind: 'walk', interrupted: 130 }, async ({ run, say }) => {
    await installDependencies({ env: run.env, say });
    const node = node22();
    // A tool that there is not is told before a minute is spent on the emulators.
    const unknown = await execute(node, [...args, '--check'], run.env);
    if (unknown !== 0) return unknown;
    process.env.MUSTER_WITHOUT_PUBSUB = '1'; // no function runs that publishes
    const output = openOutput(run, 'walk-emulators', { screen: false });
    say('starting the emulators');
    const suite = await startSuite({ run, node, ports: await freePorts(), output, say, functions: false });
    const crash = suite.exited.then((reason) => {
      throw new Error(`${reason}; what they logged: ${output.file}`);
    });
    return Promise.race([execute(node, args, { ...run.env, ...suite.env }), crash]);
  });
}

/** @param {string} node @param {string[]} args @param {NodeJS.ProcessEnv} env @returns {Promise<number>} */
async function execute(node, args, env) {
  const probes = ['--import', `${root}/scripts/walk/probes.ts`];
  const child = spawn(
    node,
    ['--disable-warning=ExperimentalWarning', ...probes, `${root}/scripts/walk/main.ts`, ...args],
    { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' },
  );
  const [code] = await once(child, 'close');
  return code ?? 1;
}
