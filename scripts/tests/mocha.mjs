// @ts-check
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { root } from '../project.mjs';

/**
 * @typedef {object} Totals
 * @property {number} passed
 * @property {number} failed
 * @property {string[]} failures the title of each, and what went wrong
 */

/**
 * Runs the suite's spec files in a process of their own. One that dies before it can report counts as one failure.
 * @param {import('./suites.mjs').Suite} suite
 * @param {object} options
 * @param {string} options.node
 * @param {import('../processes/run.mjs').Run} options.run
 * @param {NodeJS.ProcessEnv} options.env
 * @param {string[]} options.mochaOptions
 * @returns {Promise<Totals>}
 */
export async function runMocha(suite, { node, run, env, mochaOptions }) {
  const specs = specFiles(suite.specs);
  if (specs.length === 0) return { passed: 0, failed: 0, failures: [] };
  process.stdout.write(`\n── ${suite.name} ──\n`);
  const totals = `${run.directory}/totals-${suite.name.replaceAll('/', '-')}.json`;
  const mocha = `${root}/node_modules/mocha/bin/mocha.js`;
  const args = ['--reporter', `${root}/scripts/tests/totals-reporter.cjs`, '--timeout', `${suite.seconds}s`];
  args.push('--file', `${root}/test/support/properties.ts`);
  // The SDKs keep connections open behind their clients' backs: --exit.
  const child = spawn(node, [mocha, '--exit', ...args, ...mochaOptions, ...specs], {
    cwd: root,
    env: {
      ...process.env,
      ...run.env,
      ...env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --disable-warning=ExperimentalWarning`,
      MUSTER_TEST_TOTALS: totals,
    },
    stdio: 'inherit',
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  return readTotals(totals, { suite: suite.name, code });
}

/**
 * @param {string} file
 * @param {{ suite: string, code: number | null }} ending
 * @returns {Totals}
 */
function readTotals(file, { suite, code }) {
  const died = `${suite}: mocha ended with ${code ?? 'a signal'}`;
  if (!existsSync(file)) return { passed: 0, failed: 1, failures: [`${died} before it could report`] };
  const { passes, failures, failed } = JSON.parse(readFileSync(file, 'utf8'));
  if (failures === 0 && code !== 0) return { passed: passes, failed: 1, failures: [died] };
  return { passed: passes, failed: failures, failures: failed };
}

/** @param {string} path a folder, or one file */
function specFiles(path) {
  if (!existsSync(`${root}/${path}`)) return [];
  if (statSync(`${root}/${path}`).isFile()) return [path];
  return readdirSync(`${root}/${path}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => `${path}/${file}`)
    .sort();
}
