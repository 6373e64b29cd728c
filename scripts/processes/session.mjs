// @ts-check
import { reachThisMachineDirectly } from '../setup/proxy.mjs';
import { onInterruption } from './interruption.mjs';
import { closeAbandonedRuns, openRun } from './run.mjs';

/**
 * @typedef {object} Session
 * @property {import('./run.mjs').Run} run
 * @property {(message: string) => void} say to the developer, beside whatever the command's result is
 */

/**
 * Runs a command that starts other processes, and ends the process with its exit code when all of them are gone.
 * Interrupted, it does the same with `interrupted` as its code.
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
  /** Once it is ending, whatever fails does so because of that. @param {string} message */
  const say = (message) => {
    if (!run.isEnding()) process.stderr.write(`${message}\n`);
  };
  onInterruption((reason) => {
    say(`stopping (${reason})`);
    end(interrupted);
  });
  // Its children alone would not keep the process alive between two of them.
  setInterval(() => {}, 2 ** 30);
  try {
    await end(await command({ run, say }));
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    await end(1);
  }
}
