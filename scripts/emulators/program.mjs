// @ts-check
import { spawn } from 'node:child_process';
import { forEachLine } from './output.mjs';

/**
 * @typedef {object} Running
 * @property {Promise<string>} exited resolves with the reason if the program ends unexpectedly
 */

const readyMilliseconds = 60_000;

/**
 * Starts an emulator without firebase-tools, and waits until it prints that it is listening.
 * @param {string} name
 * @param {object} options
 * @param {string[]} options.command
 * @param {NodeJS.ProcessEnv} options.env
 * @param {(line: string) => void} options.log
 * @param {import('./output.mjs').Output} options.output
 * @returns {Promise<Running>}
 */
export async function startListening(name, { command: [program = '', ...args], env, log, output }) {
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Promise<string>} */
  const exited = new Promise((resolve) => {
    child.once('error', (error) => resolve(`${name} did not start: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`${name} ended (${signal ?? `exit code ${code}`})`));
  });
  await new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`${name} did not become ready`)), readyMilliseconds).unref();
    forEachLine(child, (line) => {
      log(line);
      if (line.includes('listening')) resolve(undefined);
    });
    exited.then((reason) => reject(new Error(`${reason}\n${output.tail()}`)));
  });
  return { exited };
}
