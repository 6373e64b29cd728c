// @ts-check
/** Which process is which, so that a reused process id is never mistaken for the one that was meant. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Every process of a run carries this variable, and so do the processes that they start, detached or not. */
export const runVariable = 'MUSTER_RUN';

/** @param {string} command @param {string[]} args */
function output(command, args) {
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

/** @param {string} path */
function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // gone meanwhile, or another user's
  }
}

/** The fields of `/proc/<pid>/stat` after the command, which may itself hold blanks and brackets. @param {number} pid */
function statFields(pid) {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * When the process started, in whatever unit the system counts; empty if there is no such process.
 * @param {number} pid
 */
export function startTimeOf(pid) {
  if (process.platform === 'linux') return statFields(pid)[19] ?? '';
  return output('ps', ['-o', 'lstart=', '-p', String(pid)]).trim();
}

/** @param {number} pid */
export function parentOf(pid) {
  if (process.platform === 'linux') return Number(statFields(pid)[1] ?? 0);
  return Number(output('ps', ['-o', 'ppid=', '-p', String(pid)]));
}

/** The name of the program, without its path. @param {number} pid */
export function commandOf(pid) {
  if (process.platform === 'linux') return readOrEmpty(`/proc/${pid}/comm`).trim();
  return output('ps', ['-o', 'comm=', '-p', String(pid)])
    .trim()
    .replace(/^.*\//, '');
}

/**
 * The living processes of a run, the asking one left out.
 * @param {string} tag
 * @returns {number[]}
 */
export function processesOf(tag) {
  const mark = `${runVariable}=${tag}`;
  const pids = process.platform === 'linux' ? linuxProcessesWith(mark) : unixProcessesWith(mark);
  return pids.filter((pid) => pid !== process.pid);
}

/** @param {string} mark */
function linuxProcessesWith(mark) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => readOrEmpty(`/proc/${name}/environ`).split('\0').includes(mark))
    .map(Number);
}

/** Elsewhere `ps -E` (macOS) prints the environment behind the command. @param {string} mark */
function unixProcessesWith(mark) {
  return output('ps', ['-axEww', '-o', 'pid=,command='])
    .split('\n')
    .filter((line) => line.split(' ').includes(mark))
    .map((line) => Number.parseInt(line, 10));
}
