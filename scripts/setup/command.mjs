// @ts-check
import { spawn } from 'node:child_process';
import { root } from '../project.mjs';

/**
 * Runs a program and waits for its end.
 * @param {string[]} command
 * @param {object} [options]
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env] variables in addition to those of this process
 * @param {'show' | 'errors'} [options.output] with `errors`, the output is printed only if the program fails
 * @returns {Promise<boolean>} whether it succeeded
 */
export function succeeds([program = '', ...args], { cwd = root, env = {}, output = 'show' } = {}) {
  return new Promise((resolve) => {
    const quiet = output === 'errors';
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 2, 2], // standard output is for results, such as of `bench --json`
    });
    /** @type {Buffer[]} */
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
    child.once('error', () => resolve(false));
    child.once('close', (code) => {
      if (code !== 0 && quiet) process.stderr.write(Buffer.concat(printed));
      resolve(code === 0);
    });
  });
}
