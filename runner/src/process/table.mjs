// @ts-check
/** Lists and inspects processes of this machine. It is JavaScript, because scripts use it before the build. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Returns the ids of running processes that have an environment entry starting with `mark` or are in the group,
 * except the caller. Undefined if the system does not list processes: no `ps`, or a restricted `/proc`.
 * @param {string} mark `NAME=value`
 * @param {number} [group]
 * @returns {readonly number[] | undefined}
 */
export function listProcesses(mark, group) {
  const entries = process.platform === 'linux' ? linuxProcesses() : unixProcesses();
  if (!entries.some(({ pid }) => pid === process.pid)) return undefined;
  return entries
    .filter((one) => one.pid !== process.pid)
    .filter(
      (one) => one.environment.some((entry) => entry.startsWith(mark)) || (group !== undefined && one.group === group),
    )
    .map(({ pid }) => pid);
}

/**
 * Returns the start time of a process in the system's own format. Empty if the process does not exist or is a zombie.
 * @param {number} pid
 */
export function startTimeOf(pid) {
  if (process.platform !== 'linux') return output('ps', ['-o', 'lstart=', '-p', String(pid)]).trim();
  return isZombie(pid) ? '' : (statFields(pid)[19] ?? '');
}

/** Returns whether the process has ended although its parent has not read its exit status yet. @param {number} pid */
export function isZombie(pid) {
  return process.platform === 'linux' && statFields(pid)[0] === 'Z';
}

/** @param {number} pid */
export function parentOf(pid) {
  if (process.platform === 'linux') return Number(statFields(pid)[1] ?? 0);
  return Number(output('ps', ['-o', 'ppid=', '-p', String(pid)]));
}

/** Returns the program's name, without its path. @param {number} pid */
export function commandOf(pid) {
  if (process.platform === 'linux') return readOrEmpty(`/proc/${pid}/comm`).trim();
  return output('ps', ['-o', 'comm=', '-p', String(pid)])
    .trim()
    .replace(/^.*\//, '');
}

/** @param {string} path */
export function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process has ended, or belongs to another user.
  }
}

/** @param {string} command @param {string[]} args */
export function output(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 });
  } catch {
    return '';
  }
}

/** Returns the fields of `/proc/<pid>/stat` after the command, which can contain spaces and brackets. @param {number} pid */
function statFields(pid) {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function linuxProcesses() {
  const pids = foldersOf('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((name) => {
    const pid = Number(name);
    const [state, , group] = statFields(pid);
    if (state === 'Z' || group === undefined) return [];
    return [{ pid, group: Number(group), environment: readOrEmpty(`/proc/${pid}/environ`).split('\0') }];
  });
}

/** Lists the processes of other systems. `ps -E` prints the environment after the command on macOS. */
function unixProcesses() {
  return output('ps', ['-axEww', '-o', 'pid=,pgid=,stat=,command='])
    .split('\n')
    .flatMap((line) => {
      const [pid, group, state, ...environment] = line.trim().split(/\s+/);
      if (pid === undefined || pid === '' || state?.startsWith('Z')) return [];
      return [{ pid: Number(pid), group: Number(group), environment }];
    });
}

/** @param {string} path */
function foldersOf(path) {
  try {
    return readdirSync(path);
  } catch {
    return []; // The folder is not mounted or not readable.
  }
}
