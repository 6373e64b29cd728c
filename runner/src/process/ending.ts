import { setTimeout as delay } from 'node:timers/promises';
import { findProcesses } from './identity.ts';

/** How long processes have to end by themselves once asked, in milliseconds. */
const GENTLE_MS = 4000;
const HARD_MS = 10_000;
const BETWEEN_LOOKS_MS = 50;

/**
 * Ends the processes of a mark and of a group, first by asking. Looks again and again, since one of them may just
 * have started another.
 * @returns whether all are gone
 */
export async function endProcesses(mark: string, group?: number, gentleMs = GENTLE_MS): Promise<boolean> {
  signalAll(findProcesses(mark, group), 'SIGTERM');
  if (await allGone(mark, group, gentleMs)) return true;
  const deadline = performance.now() + HARD_MS;
  do signalAll(findProcesses(mark, group), 'SIGKILL');
  while (!(await allGone(mark, group, 4 * BETWEEN_LOOKS_MS)) && performance.now() < deadline);
  return findProcesses(mark, group).length === 0;
}

async function allGone(mark: string, group: number | undefined, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (findProcesses(mark, group).length > 0) {
    if (performance.now() >= deadline) return false;
    await delay(BETWEEN_LOOKS_MS);
  }
  return true;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // it ended by itself meanwhile
    }
  }
}
