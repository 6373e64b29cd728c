// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import { processesOf } from './identity.mjs';

const gentleMilliseconds = 6000;
const hardMilliseconds = 3000;

/**
 * Ends every process of a run, first by asking. The Firestore emulator is in a process group of its own, where a
 * signal to ours never reaches it, which is why processes are found by their mark and not by their group.
 * @param {string} tag
 */
export async function endProcesses(tag) {
  signalAll(tag, 'SIGTERM');
  if (await allGone(tag, gentleMilliseconds)) return;
  const deadline = Date.now() + hardMilliseconds;
  do
    signalAll(tag, 'SIGKILL'); // again and again: one of them may just have started another
  while (!(await allGone(tag, 200)) && Date.now() < deadline);
}

/** @param {string} tag @param {NodeJS.Signals} signal */
function signalAll(tag, signal) {
  for (const pid of processesOf(tag)) {
    try {
      process.kill(pid, signal);
    } catch {
      // it ended by itself meanwhile
    }
  }
}

/** @param {string} tag @param {number} milliseconds */
async function allGone(tag, milliseconds) {
  const deadline = Date.now() + milliseconds;
  while (processesOf(tag).length > 0) {
    if (Date.now() >= deadline) return false;
    await delay(50);
  }
  return true;
}
