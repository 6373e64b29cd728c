// @ts-check
import { spawn } from 'node:child_process';
import { forEachLine } from '../emulators/output.mjs';
import { root } from '../project.mjs';

const readyMilliseconds = 30_000;

/**
 * Starts the GitHub that the end-to-end tests reach through the functions. It ends with the run.
 * @param {object} options
 * @param {string} options.node
 * @param {NodeJS.ProcessEnv} options.env
 * @param {import('../emulators/output.mjs').Output} options.output
 * @returns {Promise<Record<string, string>>} the functions' parameters that name it
 */
export async function startLocalGitHub({ node, env, output }) {
  const program = `${root}/test/support/github/main.ts`;
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', program], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error('the local GitHub did not get ready')),
      readyMilliseconds,
    );
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`the local GitHub ended (exit code ${code})\n${output.tail()}`)),
    );
    forEachLine(child, (line) => {
      const [, parameters] = /^parameters: (.*)$/.exec(line) ?? [];
      if (parameters === undefined) return output.line('github', line);
      clearTimeout(timer);
      resolve(JSON.parse(parameters));
    });
  });
}
