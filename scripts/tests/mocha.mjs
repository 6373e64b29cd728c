// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { root } from '../project.mjs';

/**
 * @typedef {object} Totals
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} failures title and error of each
 * @property {Record<string, number>} seconds by file
 */

const shownLines = 20;
let processes = 0;

/**
 * Runs test files in a separate process. If the process crashes before it reports, that counts as one failure.
 * @param {string[]} files
 * @param {object} options
 * @param {string} options.title
 * @param {number} options.seconds timeout of a test
 * @param {string} options.node
 * @param {import('../processes/run.mjs').Run} options.run
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string[]} options.mochaOptions
 * @param {boolean} options.live whether to print the output immediately instead of when the process has ended
 * @returns {Promise<Totals>}
 */
export async function runMocha(files, { title, seconds, node, run, env, mochaOptions, live }) {
  processes += 1;
  const totals = `${run.directory}/totals-${processes}.json`;
  const mocha = `${root}/test/node_modules/mocha/bin/mocha.js`;
  const args = ['--reporter', `${root}/test/support/reporter.cjs`, '--timeout', `${seconds}s`];
  for (const file of ['environment.ts', 'properties.ts']) args.push('--file', `${root}/test/support/${file}`);
  if (process.stdout.isTTY) args.push('--color'); // mocha writes to a pipe and detects no terminal
  const heading = `\n── ${title} ──\n`;
  if (live) process.stdout.write(heading);
  // The SDKs keep connections open (`--exit`) and create many short-lived objects (`--max-semi-space-size`).
  const child = spawn(node, ['--max-semi-space-size=64', mocha, '--exit', ...args, ...mochaOptions, ...files], {
    cwd: root,
    env: {
      ...process.env,
      TMPDIR: run.temporary, // this folder is removed at the end of the run
      ...run.env,
      // Repositories that open workspaces may use in the tests.
      GITHUB_REPOSITORIES: ['sartor-ai/*', 'octocat/*', 'nobody/*'].join(', '),
      ...env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning`,
      MUSTER_TEST_TOTALS: totals,
    },
    stdio: live ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  /** @type {Buffer[]} */
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => printed.push(chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (!live) process.stdout.write(Buffer.concat([Buffer.from(heading), ...printed]));
  const ending = `${title}: mocha ended with ${code ?? 'a signal'}`;
  if (!existsSync(totals)) return failure(`${ending} before it could report\n${endOf(printed)}`);
  return readTotals(totals, ending, code);
}

/**
 * @param {string} file
 * @param {string} ending
 * @param {number | null} code
 * @returns {Totals}
 */
function readTotals(file, ending, code) {
  const totals = JSON.parse(readFileSync(file, 'utf8'));
  if (totals.failed === 0 && code !== 0) return { ...totals, failed: 1, failures: [ending] };
  return totals;
}

/** Returns the last lines of output, in which a process usually reports why it ended. @param {Buffer[]} printed */
function endOf(printed) {
  return Buffer.concat(printed).toString().trimEnd().split('\n').slice(-shownLines).join('\n');
}

/** @param {string} what @returns {Totals} */
export function failure(what) {
  return { passed: 0, failed: 1, failures: [what], seconds: {} };
}
