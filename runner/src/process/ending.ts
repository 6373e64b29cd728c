import { setTimeout as delay } from 'node:timers/promises';
import { findProcesses, listProcesses } from './identity.ts';

/** How long processes have to end by themselves once asked, in milliseconds. */
const GENTLE_MS = 4000;
const HARD_MS = 10_000;
const BETWEEN_LOOKS_MS = 50;

/**
 * Ends the processes of a mark and of a group, first by asking. Looks again and again, since one of them may just
 * have started another.
 * @returns whether all are known to be gone: never if the system does not list processes
 */
export async function endProcesses(mark: string, group?: number, gentleMs = GENTLE_MS): Promise<boolean> {
  if (listProcesses(mark, group) === undefined) {
    if (group !== undefined) await endGroup(group, gentleMs);
    return false;
  }
  signalAll(findProcesses(mark, group), 'SIGTERM');
  if (await allGone(mark, group, gentleMs)) return true;
  const deadline = performance.now() + HARD_MS;
  do signalAll(findProcesses(mark, group), 'SIGKILL');
  while (!(await allGone(mark, group, 4 * BETWEEN_LOOKS_MS)) && performance.now() < deadline);
  return listProcesses(mark, group)?.length === 0;
}

/** Ends a process group of which no process can be listed. */
async function endGroup(group: number, gentleMs: number): Promise<void> {
  signalAll([-group], 'SIGTERM');
  const deadline = performance.now() + gentleMs;
  while (signalAll([-group], 0) && performance.now() < deadline) await delay(BETWEEN_LOOKS_MS);
  signalAll([-group], 'SIGKILL');
}

async function allGone(mark: string, group: number | undefined, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (findProcesses(mark, group).length > 0) {
    if (performance.now() >= deadline) return false;
    await delay(BETWEEN_LOOKS_MS);
  }
  return true;
}

/** @returns whether one of them was there. 0 as the signal only asks that. */
function signalAll(pids: readonly number[], signal: NodeJS.Signals | 0): boolean {
  let wasThere = false;
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
      wasThere = true;
    } catch {
      // it has ended since
    }
  }
  return wasThere;
}
