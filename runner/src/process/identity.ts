/** Which process is which: a process id alone is used again after its process has ended. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

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

interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  readonly mark: string | undefined;
}

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
  if (process.platform === 'linux' && statFields(pid)[0] === 'Z') return { exists: false };
  return { exists: true, startedAt: startTimeOf(pid) };
}

/**
 * Returns the living processes whose mark begins so, and those of the group, without the asking process. Undefined
 * if the system does not list processes: no `ps`, or a restricted `/proc`.
 */
export function listProcesses(markPrefix: string, group?: number): readonly number[] | undefined {
  const entries = process.platform === 'linux' ? linuxProcesses() : unixProcesses();
  if (!entries.some(({ pid }) => pid === process.pid)) return undefined;
  return entries
    .filter((one) => one.pid !== process.pid)
    .filter(
      (one) => one.mark?.startsWith(markPrefix) === true || (group !== undefined && one.group === group),
    )
    .map(({ pid }) => pid);
}

/** Like `listProcesses`, and empty if the system does not list processes. */
export function findProcesses(markPrefix: string, group?: number): readonly number[] {
  return listProcesses(markPrefix, group) ?? [];
}

/** Empty where there is no such process, or only a zombie of it. */
function startTimeOf(pid: number): string {
  if (process.platform !== 'linux') return output('ps', ['-o', 'lstart=', '-p', String(pid)]).trim();
  const fields = statFields(pid);
  return fields[0] === 'Z' ? '' : (fields[19] ?? '');
}

/** The fields of `/proc/<pid>/stat` after the command, which may itself hold blanks and brackets. */
function statFields(pid: number): readonly string[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function linuxProcesses(): readonly ProcessEntry[] {
  const pids = foldersOf('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    const pid = Number(name);
    const [state, , group] = statFields(pid);
    // A zombie has ended; its parent has only not asked how.
    if (state === 'Z' || group === undefined) return [];
    const environment = readOrEmpty(`/proc/${pid}/environ`).split('\0');
    return [{ pid, group: Number(group), mark: markIn(environment) }];
  });
}

/** Elsewhere `ps -E` (macOS) prints the environment behind the command. */
function unixProcesses(): readonly ProcessEntry[] {
  return output('ps', ['-axEww', '-o', 'pid=,pgid=,stat=,command='])
    .split('\n')
    .flatMap((line) => {
      const [pid, group, state, ...words] = line.trim().split(/\s+/);
      if (pid === undefined || pid === '' || state?.startsWith('Z')) return [];
      return [{ pid: Number(pid), group: Number(group), mark: markIn(words) }];
    });
}

function markIn(environment: readonly string[]): string | undefined {
  const name = `${MARK_VARIABLE}=`;
  return environment.find((entry) => entry.startsWith(name))?.slice(name.length);
}

function foldersOf(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // not mounted, or not for us
  }
}

function linkOrEmpty(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone meanwhile, or another user's
  }
}

function output(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
    });
  } catch {
    return '';
  }
}
