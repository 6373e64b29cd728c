// @ts-check
import { reachThisMachineDirectly } from '../setup/proxy.mjs';
import { onInterruption } from './interruption.mjs';
import { closeAbandonedRuns, openRun } from './run.mjs';

/**
 * @typedef {object} Session
 * @property {import('./run.mjs').Run} run
 * @property {(message: string) => void} say prints to standard error, because standard output is for results
 */

/**
 * Runs a command that starts other processes, and exits with its code when all of them have ended. An interrupted
 * command exits with the code `interrupted`.
 * @param {{ kind: string, interrupted: number }} options
 * @param {(session: Session) => Promise<number>} command
 */
export async function runSession({ kind, interrupted }, command) {
  reachThisMachineDirectly();
  await closeAbandonedRuns();
  const run = openRun(kind);
  /** @type {Promise<void> | undefined} */
  let ending;
  /** @param {number} code */
  const end = (code) => {
    ending ??= run.end().finally(() => process.exit(code));
    return ending;
  };
  /** Prints an error, except while the run is ending, when failures are expected. @param {string} message */
  const say = (message) => {
    if (!run.isEnding()) process.stderr.write(`${message}\n`);
  };
  onInterruption((reason) => {
    say(`stopping (${reason})`);
    end(interrupted);
  });
  // Keeps this process running while no child process runs.
  setInterval(() => {}, 2 ** 30);
  try {
    await end(await command({ run, say }));
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    await end(1);
  }
}
