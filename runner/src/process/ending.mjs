// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { listProcesses } from './table.mjs';

/** Time for a runner's processes to end after SIGTERM, in milliseconds. */
export const GENTLE_MS = 4000;
const HARD_MS = 10_000;
const POLL_INTERVAL_MS = 50;

/**
 * Ends the processes that have a mark or are in a group: first with SIGTERM, then with SIGKILL. Lists the processes
 * repeatedly, because a process may start another one. The mark finds processes that create their own group.
 * @param {string} mark `NAME=value`, the prefix of an entry in the processes' environment
 * @param {{ gentleMs: number, group?: number | undefined }} options time for the processes to end after SIGTERM
 * @returns {Promise<boolean>} whether all processes have certainly ended; false if the system cannot list them
 */
export async function endMarked(mark, { gentleMs, group }) {
  const list = () => listProcesses(mark, group);
  if (list() === undefined) {
    if (group !== undefined) await endGroup(group, gentleMs);
    return false;
  }
  signalAll(list() ?? [], 'SIGTERM');
  if (await allGone(list, gentleMs)) return true;
  const deadline = performance.now() + HARD_MS;
  do signalAll(list() ?? [], 'SIGKILL');
  while (!(await allGone(list, 4 * POLL_INTERVAL_MS)) && performance.now() < deadline);
  return list()?.length === 0;
}

/**
 * When the process that writes to the standard input of this process has ended or crashed, calls `clearUp` and exits.
 * @param {() => Promise<unknown>} clearUp
 */
export function afterOwner(clearUp) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) process.on(signal, () => undefined);
  process.stdin.resume();
  process.stdin.on('error', () => undefined);
  process.stdin.on('close', async () => {
    await clearUp();
    process.exit(0);
  });
}

/** Ends a process group whose processes cannot be listed. @param {number} group @param {number} gentleMs */
async function endGroup(group, gentleMs) {
  signalAll([-group], 'SIGTERM');
  const deadline = performance.now() + gentleMs;
  while (signalAll([-group], 0) && performance.now() < deadline) await delay(POLL_INTERVAL_MS);
  signalAll([-group], 'SIGKILL');
}

/** @param {() => readonly number[] | undefined} list @param {number} milliseconds */
async function allGone(list, milliseconds) {
  const deadline = performance.now() + milliseconds;
  while ((list() ?? []).length > 0) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_INTERVAL_MS);
  }
  return true;
}

/**
 * @param {readonly number[]} pids
 * @param {NodeJS.Signals | 0} signal 0 only checks whether the process exists
 * @returns whether at least one process existed
 */
function signalAll(pids, signal) {
  let existed = false;
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
      existed = true;
    } catch {
      // The process has already ended.
    }
  }
  return existed;
}
