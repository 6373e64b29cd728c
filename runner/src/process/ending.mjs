// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { listProcesses } from './table.mjs';

/** How long processes of a runner have to end after they are asked, in milliseconds. */
export const GENTLE_MS = 4000;
const HARD_MS = 10_000;
const BETWEEN_LOOKS_MS = 50;

/**
 * Ends the processes of a mark and of a group, first by asking. Looks again and again, since one of them may just
 * have started another. A group alone does not find all: the Firestore emulator is in one of its own.
 * @param {string} mark `NAME=value`, the beginning of an entry of their environment
 * @param {{ gentleMs: number, group?: number | undefined }} options how long they have to end after they are asked
 * @returns {Promise<boolean>} whether all are known to be gone: never if the system does not list processes
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
  while (!(await allGone(list, 4 * BETWEEN_LOOKS_MS)) && performance.now() < deadline);
  return list()?.length === 0;
}

/**
 * Calls `clearUp` once the process at the other end of the standard input ends, in whatever way, and then ends this one.
 * @param {() => Promise<unknown>} clearUp
 */
export function afterOwner(clearUp) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => undefined);
  process.stdin.resume();
  process.stdin.on('error', () => undefined);
  process.stdin.on('close', async () => {
    await clearUp();
    process.exit(0);
  });
}

/** Ends a process group of which no process can be listed. @param {number} group @param {number} gentleMs */
async function endGroup(group, gentleMs) {
  signalAll([-group], 'SIGTERM');
  const deadline = performance.now() + gentleMs;
  while (signalAll([-group], 0) && performance.now() < deadline) await delay(BETWEEN_LOOKS_MS);
  signalAll([-group], 'SIGKILL');
}

/** @param {() => readonly number[] | undefined} list @param {number} milliseconds */
async function allGone(list, milliseconds) {
  const deadline = performance.now() + milliseconds;
  while ((list() ?? []).length > 0) {
    if (performance.now() >= deadline) return false;
    await delay(BETWEEN_LOOKS_MS);
  }
  return true;
}

/**
 * @param {readonly number[]} pids
 * @param {NodeJS.Signals | 0} signal 0 only asks whether one exists
 * @returns whether one of them existed
 */
function signalAll(pids, signal) {
  let existed = false;
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
      existed = true;
    } catch {
      // it has ended since
    }
  }
  return existed;
}
