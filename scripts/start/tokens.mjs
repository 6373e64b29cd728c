// @ts-check
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { root } from '../project.mjs';
import { cloneSecret } from './clone.mjs';

const seedScript = `${root}/scripts/seed.mjs`;

/**
 * @typedef {Record<string, string>} Tokens credentials by the name of their owner
 *
 * @typedef {object} Seeded
 * @property {Tokens} tokens
 * @property {import('../emulators/hosting.mjs').SeededPerson[]} people
 */

/**
 * Runs `scripts/seed.mjs`, which fills the emulators and runs the demo scenario or, with `refresh`, only renews tokens.
 * @param {object} options
 * @param {string} options.node
 * @param {import('../processes/run.mjs').Run} options.run
 * @param {import('../emulators/suite.mjs').Suite} options.suite
 * @param {import('../emulators/output.mjs').Output} options.output
 * @param {{ refresh: boolean }} what
 * @returns {Promise<Seeded>}
 */
export async function seed({ node, run, suite, output }, { refresh }) {
  if (!existsSync(seedScript)) return { tokens: {}, people: [] };
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', seedScript, refresh ? '--tokens' : '--story'], {
    cwd: root,
    env: { ...process.env, ...run.env, ...suite.env, MUSTER_SEED_SECRET: cloneSecret() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('close', resolve));
  const [printed, complaints, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  for (const line of complaints.split('\n').filter(Boolean)) output.line('seed', line);
  if (code !== 0) throw new Error(`the seed failed:\n${complaints}`);
  return JSON.parse(printed);
}
