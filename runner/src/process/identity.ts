/** Which process is which: a process id alone is used again after its process has ended. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Every process of an attempt carries this variable, and so do those that it starts, whatever their group. */
export const MARK_VARIABLE = 'MUSTER_RUNNER_MARK';

export interface ProcessIdentity {
  readonly pid: number;
  /** In whatever unit the system counts. */
  readonly startedAt: string;
}

interface ProcessEntry {
  readonly pid: number;
  readonly group: number;
  readonly mark: string | undefined;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedAt: startTimeOf(process.pid) };
}

export function isAlive({ pid, startedAt }: ProcessIdentity): boolean {
  return startedAt !== '' && startTimeOf(pid) === startedAt;
}

/** The living processes whose mark begins so, and those of the group. The asking process is never among them. */
export function findProcesses(markPrefix: string, group?: number): readonly number[] {
  const entries = process.platform === 'linux' ? linuxProcesses() : unixProcesses();
  return entries
    .filter((one) => one.pid !== process.pid)
    .filter(
      (one) => one.mark?.startsWith(markPrefix) === true || (group !== undefined && one.group === group),
    )
    .map(({ pid }) => pid);
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
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
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
