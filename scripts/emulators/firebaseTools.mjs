// @ts-check
import { spawn } from 'node:child_process';
import { projectId, root } from '../project.mjs';
import { forEachLine } from './output.mjs';

const readyMilliseconds = 180_000;

/**
 * Starts the Firebase emulators and waits until they have loaded the functions.
 * @param {object} options
 * @param {string} options.node
 * @param {string[]} options.emulators
 * @param {string} options.config
 * @param {string} options.directory for its debug logs
 * @param {string | undefined} options.importFrom
 * @param {boolean | undefined} options.saveMemory ends idle function processes
 * @param {NodeJS.ProcessEnv} options.env
 * @param {import('./output.mjs').Output} options.output
 * @returns {Promise<import('./program.mjs').Running>}
 */
export async function startFirebaseTools({ node, emulators, config, directory, importFrom, saveMemory, env, output }) {
  const program = `${root}/node_modules/firebase-tools/lib/bin/firebase.js`;
  const args = ['emulators:start', '--project', projectId, '--config', config, '--only', emulators.join(',')];
  if (importFrom !== undefined) args.push('--import', importFrom);
  const preloaded = saveMemory ? ['--import', `${root}/scripts/emulators/reapIdleWorkers.mjs`] : [];
  const child = spawn(node, [...preloaded, program, ...args, '--non-interactive'], {
    cwd: directory,
    env,
    detached: true, // handles Ctrl-C here, because a second signal would leave Java running
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  forEachLine(child, (line) => output.line('emulators', line));
  const exited = ending(child);
  await ready(child, exited, output);
  return { exited };
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<string>} */
function ending(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`the emulators did not start: ${error.message}`));
    child.once('exit', (code, signal) => resolve(`the emulators ended (${signal ?? `exit code ${code}`})`));
    // If an emulator is killed, firebase-tools only logs this line and continues without the emulator.
    forEachLine(child, (line) => {
      if (line.includes('has exited upon receiving signal')) resolve(line);
    });
  });
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {Promise<string>} exited
 * @param {import('./output.mjs').Output} output
 * @returns {Promise<void>}
 */
function ready(child, exited, output) {
  return new Promise((resolve, reject) => {
    /** @param {string} reason */
    const fail = (reason) => reject(new Error(`${reason}\n${output.tail()}`));
    const timer = setTimeout(() => fail('the emulators did not become ready'), readyMilliseconds);
    forEachLine(child, (line) => {
      if (line.includes('All emulators ready')) resolve();
      // After this line, firebase-tools continues without the functions, and every call of a function gets 404.
      if (line.includes('Failed to load function definition')) fail('the functions could not be loaded');
    });
    exited.then(fail);
    Promise.resolve().finally(() => timer.unref());
  });
}
