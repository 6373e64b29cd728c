/** The processes in which the emulator runs the functions, like instances of Cloud Run. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { processesOf, runVariable } from '../../../scripts/processes/run.mjs';

/** Returns the process ids of all instances. */
export function instances(): readonly number[] {
  const run = process.env[runVariable];
  if (run === undefined) throw new Error(`${runVariable} is not set: run "npm test -- e2e".`);
  return processesOf(run).filter(isInstance);
}

/** Kills instances without a warning, as the platform may do at any time. */
export function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

function isInstance(pid: number): boolean {
  return commandLineOf(pid).includes('functionsEmulatorRuntime');
}

function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return ''; // The process has already ended.
  }
}
