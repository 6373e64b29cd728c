/** Which process is which: a process id alone is used again after its process has ended. */
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { endMarked, GENTLE_MS } from './ending.mjs';
import { isZombie, listProcesses as listMarked, output, readOrEmpty, startTimeOf } from './table.mjs';

/** Every process of an attempt carries this variable, and so do those that it starts, whatever their group. */
export const MARK_VARIABLE = 'MUSTER_RUNNER_MARK';

/** Where a process id means one process: a start of a machine, and a namespace of process ids on it. */
export interface Place {
  /** Id of the kernel's start; empty if the system does not report it. */
  readonly bootId: string;
  /** Empty on systems without namespaces. */
  readonly pidNamespace: string;
  readonly host: string;
}

export interface ProcessIdentity extends Partial<Place> {
  readonly pid: number;
  /** In whatever unit the system counts. */
  readonly startedAt: string;
}

/** `ended` is certain. `unknown`: the process cannot be seen from here. */
export type Standing = 'running' | 'ended' | 'unknown';

/** The state of a process id; `startedAt` is empty if the process exists and its start cannot be read. */
export type Sight = { readonly exists: false } | { readonly exists: true; readonly startedAt: string };

/** Returns the identity of this process. */
export function ownIdentity(): ProcessIdentity & Place {
  return { pid: process.pid, startedAt: startTimeOf(process.pid), ...ownPlace() };
}

/** Returns where this process runs. */
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
 * Decides whether a process has ended, from what can be seen here.
 * @param look what can be seen of a process id; asked only if the id means the same here
 */
export function standingOf(
  { pid, startedAt, bootId, pidNamespace, host }: ProcessIdentity,
  here: Place,
  look: (pid: number) => Sight,
): Standing {
  const hasPlace = bootId !== undefined || pidNamespace !== undefined || host !== undefined;
  if (hasPlace && bootId !== here.bootId) return host === here.host ? 'ended' : 'unknown';
  if (hasPlace && pidNamespace !== here.pidNamespace) return 'unknown';
  // Without a boot id, machines that share a folder differ by their names only.
  if (hasPlace && bootId === '' && host !== here.host) return 'unknown';
  const seen = look(pid);
  if (!seen.exists) return 'ended';
  if (hasPlace && (startedAt === '' || seen.startedAt === '')) return 'unknown';
  return startedAt !== '' && seen.startedAt === startedAt ? 'running' : 'ended';
}

/** Returns what can be seen of a process id here. A zombie has ended. */
export function lookAt(pid: number): Sight {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // The process of another user exists and cannot be signalled.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return { exists: false };
  }
  if (isZombie(pid)) return { exists: false };
  return { exists: true, startedAt: startTimeOf(pid) };
}

/**
 * Returns the living processes whose mark begins so, and those of the group, without the asking process. Undefined
 * if the system does not list processes: no `ps`, or a restricted `/proc`.
 */
export function listProcesses(markPrefix: string, group?: number): readonly number[] | undefined {
  return listMarked(entryOf(markPrefix), group);
}

/** Like `listProcesses`, and empty if the system does not list processes. */
export function findProcesses(markPrefix: string, group?: number): readonly number[] {
  return listProcesses(markPrefix, group) ?? [];
}

/**
 * Ends the processes of a mark and of a group, first by asking.
 * @returns whether all are known to be gone: never if the system does not list processes
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
