/** Identifies processes. A process id is not enough, because the system reuses the id after the process has ended. */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { endMarked, GENTLE_MS } from './ending.mjs';
import { isZombie, listProcesses as listMarked, output, readOrEmpty, startTimeOf } from './table.mjs';

/** Environment variable of every process of an attempt. Child processes inherit it, in any process group. */
export const MARK_VARIABLE = 'MUSTER_RUNNER_MARK';

/** Scope in which a process id is unique: one boot of a machine and one PID namespace. */
export interface Place {
  /** Id of the current boot of the system; empty if the system does not report this id. */
  readonly bootId: string;
  /** Id of the PID namespace; empty on systems without namespaces. */
  readonly pidNamespace: string;
  readonly host: string;
}

export interface ProcessIdentity extends Partial<Place> {
  readonly pid: number;
  /** Start time of the process, in the system's own format. */
  readonly startedAt: string;
}

/** `ended`: the process has certainly ended. `unknown`: this machine or container cannot see the process. */
export type ProcessState = 'running' | 'ended' | 'unknown';

/** Whether a process id is in use. `startedAt` is empty if the start time cannot be read. */
export type ProcessSnapshot = { readonly exists: false } | { readonly exists: true; readonly startedAt: string };

/** Returns the identity of this process. */
export function ownIdentity(): ProcessIdentity & Place {
  return { pid: process.pid, startedAt: startTimeOf(process.pid), ...ownPlace() };
}

/** Returns the scope of this process. */
export function ownPlace(): Place {
  const isLinux = process.platform === 'linux';
  return {
    bootId: (isLinux
      ? readOrEmpty('/proc/sys/kernel/random/boot_id')
      : output('sysctl', ['-n', 'kern.bootsessionuuid'])
    ).trim(),
    pidNamespace: isLinux ? linkOrEmpty('/proc/self/ns/pid') : '',
    host: hostname(),
  };
}

/**
 * Returns whether a process is running or has ended, as far as this process can determine.
 * @param look inspects a process id; called only if `here` is the place in which the id is unique
 */
export function stateOf(
  { pid, startedAt, bootId, pidNamespace, host }: ProcessIdentity,
  here: Place,
  look: (pid: number) => ProcessSnapshot,
): ProcessState {
  const hasPlace = bootId !== undefined || pidNamespace !== undefined || host !== undefined;
  if (hasPlace && bootId !== here.bootId) return host === here.host ? 'ended' : 'unknown';
  if (hasPlace && pidNamespace !== here.pidNamespace) return 'unknown';
  // Without a boot id, only host names distinguish machines that use the same folder.
  if (hasPlace && bootId === '' && host !== here.host) return 'unknown';
  const seen = look(pid);
  if (!seen.exists) return 'ended';
  if (hasPlace && (startedAt === '' || seen.startedAt === '')) return 'unknown';
  return startedAt !== '' && seen.startedAt === startedAt ? 'running' : 'ended';
}

/** Returns whether a process id is in use, and the start time of its process. A zombie counts as ended. */
export function inspectProcess(pid: number): ProcessSnapshot {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process belongs to another user, so it exists but cannot be signalled.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return { exists: false };
  }
  if (isZombie(pid)) return { exists: false };
  return { exists: true, startedAt: startTimeOf(pid) };
}

/**
 * Returns the ids of running processes whose mark has this prefix or that are in the group, except the caller.
 * Undefined if the system does not list processes: no `ps`, or a restricted `/proc`.
 */
export function listProcesses(markPrefix: string, group?: number): readonly number[] | undefined {
  return listMarked(entryOf(markPrefix), group);
}

/** Like `listProcesses`, but empty if the system does not list processes. */
export function findProcesses(markPrefix: string, group?: number): readonly number[] {
  return listProcesses(markPrefix, group) ?? [];
}

/**
 * Ends the processes that have a mark or are in a group, first with SIGTERM.
 * @returns whether all processes are known to have ended; false if the system does not list processes
 */
export function endProcesses(mark: string, group?: number, gentleMs = GENTLE_MS): Promise<boolean> {
  return endMarked(entryOf(mark), { gentleMs, group });
}

function entryOf(mark: string): string {
  return `${MARK_VARIABLE}=${mark}`;
}

function linkOrEmpty(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
