/** The Firebase CLI at the locked version, which uploads functions, rules, indexes and the console. */
import { spawn } from 'node:child_process';
import { cliEnvironment } from '../google/apis.ts';
import type { Google } from '../google/client.ts';
import { root } from '../project.mjs';

export interface Ran {
  readonly succeeded: boolean;
  readonly output: string;
}

/** Runs a command of the CLI for a project and prints its output. */
export type Firebase = (args: readonly string[]) => Promise<Ran>;

/**
 * Returns a runner of the CLI. The token is passed in the environment, because other users can see arguments.
 * @param program path of the CLI's script, which Node runs
 */
export function firebaseCli(
  { project, token, origin }: Pick<Google, 'project' | 'token' | 'origin'>,
  program = `${root}/node_modules/firebase-tools/lib/bin/firebase.js`,
): Firebase {
  return async (args) => {
    const env = {
      ...process.env,
      ...cliEnvironment(origin),
      FIREBASE_TOKEN: await token(),
      // On a busy machine, loading the functions takes longer than the CLI's default limit of 10 seconds.
      FUNCTIONS_DISCOVERY_TIMEOUT: '60',
    };
    const child = spawn(process.execPath, [program, ...args, '--non-interactive', '--project', project], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        printed.push(chunk);
        process.stderr.write(chunk);
      });
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { succeeded: code === 0, output: Buffer.concat(printed).toString() };
  };
}
