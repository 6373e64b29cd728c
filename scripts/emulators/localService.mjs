// @ts-check
import { spawn } from 'node:child_process';
import { root } from '../project.mjs';
import { forEachLine } from './output.mjs';

const readyMilliseconds = 60_000;

/** Programs that stand in for vendors, which the functions call in end-to-end tests and demonstrations. */
const programs = {
  github: ['test/support/github/main.ts'],
  models: ['test/support/models/main.ts'],
  'demo models': ['test/support/models/main.ts', '--demo'],
};

/**
 * Starts a program that stands in for a vendor. It ends with the run.
 * @param {keyof typeof programs} name
 * @param {object} options
 * @param {string} options.node
 * @param {NodeJS.ProcessEnv} options.env
 * @param {import('./output.mjs').Output} options.output
 * @returns {Promise<Record<string, string>>} parameters with which the functions reach the program
 */
export async function startLocalService(name, { node, env, output }) {
  const [program, ...args] = programs[name];
  const child = spawn(node, ['--disable-warning=ExperimentalWarning', `${root}/${program}`, ...args], {
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the local ${name} did not become ready`)), readyMilliseconds);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the local ${name} ended (exit code ${code})\n${output.tail()}`)));
    forEachLine(child, (line) => {
      const [, parameters] = /^parameters: (.*)$/.exec(line) ?? [];
      if (parameters === undefined) return output.line(name, line);
      clearTimeout(timer);
      resolve(JSON.parse(parameters));
    });
  });
}
