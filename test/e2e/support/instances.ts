/** The processes in which the emulator runs the functions: what a Cloud Run instance is in production. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { processesOf, runVariable } from '../../../scripts/processes/identity.mjs';

/** Kills every instance, as the platform may at any moment. Tells how many there were. */
export function killInstances(): number {
  const run = process.env[runVariable];
  if (run === undefined) throw new Error(`${runVariable} is not set: run "npm test -- e2e".`);
  return processesOf(run).filter(isInstance).filter(kill).length;
}

function isInstance(pid: number): boolean {
  return commandLineOf(pid).includes('functionsEmulatorRuntime');
}

function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return ''; // gone meanwhile
  }
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
