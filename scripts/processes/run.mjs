// @ts-check
/**
 * A run is one `npm start` or `npm test` with all its processes. Whenever a run ends (Ctrl-C, a crash, SIGKILL, a
 * closed terminal), its processes are ended and its temporary files are removed: by the run itself if possible, else
 * by its watchdog or, if both were killed, by the next run.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endMarked } from '../../runner/src/process/ending.mjs';
import { listProcesses, startTimeOf } from '../../runner/src/process/table.mjs';
import { devDirectory } from '../project.mjs';

/** Name of the variable with the run's tag, which all processes of a run inherit, even detached ones. */
export const runVariable = 'MUSTER_RUN';

/** Milliseconds between SIGTERM and SIGKILL. */
const GENTLE_MS = 6000;

/**
 * @typedef {object} RunRecord data for the watchdog and the next run
 * @property {string} tag
 * @property {string} kind
 * @property {number} pid
 * @property {string} startTime start time of the process, which identifies it together with the pid
 * @property {string[]} remove files and folders to remove with the run
 *
 * @typedef {object} Run
 * @property {string} tag
 * @property {string} directory for debug logs
 * @property {string} temporary folder for temporary files and sockets
 * @property {string} suffix for file names: empty, unless another run of the same kind is running
 * @property {Record<string, string>} env for every process of the run
 * @property {(path: string) => void} removeAtEnd
 * @property {() => boolean} isEnding
 * @property {() => Promise<void>} end
 */

const runsDirectory = `${devDirectory}/runs`;

/**
 * @param {string} kind
 * @returns {Run}
 */
export function openRun(kind) {
  const others = livingRuns().filter((other) => other.kind === kind);
  const tag = `${kind}-${randomBytes(4).toString('hex')}`;
  const directory = `${runsDirectory}/${tag}`;
  const temporary = `${tmpdir()}/muster-${tag}`; // a path outside of the project, short enough for sockets
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  /** @type {RunRecord} */
  const record = { tag, kind, pid: process.pid, startTime: startTimeOf(process.pid), remove: [temporary] };
  createDirectoryWith(record);
  startWatchdog(tag);
  let ending = false;
  return {
    tag,
    directory,
    temporary,
    suffix: others.length > 0 ? `-${tag.slice(kind.length + 1)}` : '',
    env: { [runVariable]: tag },
    removeAtEnd(path) {
      if (record.remove.includes(path)) return;
      record.remove.push(path);
      replaceRecord(record);
    },
    isEnding: () => ending,
    end() {
      ending = true;
      return closeRun(tag);
    },
  };
}

/**
 * Ends the run's processes and removes its files. Two processes may call this, even concurrently.
 * @param {string} tag
 */
export async function closeRun(tag) {
  await endMarked(`${runVariable}=${tag}`, { gentleMs: GENTLE_MS });
  const record = readRecord(tag);
  for (const path of record?.remove ?? []) rmSync(path, { recursive: true, force: true });
  rmSync(`${runsDirectory}/${tag}`, { recursive: true, force: true });
}

/** Returns the pids of a run's processes, except this process. @param {string} tag */
export function processesOf(tag) {
  return listProcesses(`${runVariable}=${tag}`) ?? [];
}

/** Cleans up after runs that were killed together with their watchdogs. */
export async function closeAbandonedRuns() {
  const living = new Set(livingRuns().map((run) => run.tag));
  const abandoned = recordedTags().filter((tag) => !living.has(tag));
  await Promise.all(abandoned.map(closeRun));
}

function livingRuns() {
  return recordedTags()
    .map(readRecord)
    .filter((record) => record !== undefined)
    .filter((record) => record.startTime !== '' && startTimeOf(record.pid) === record.startTime);
}

function recordedTags() {
  return existsSync(runsDirectory) ? readdirSync(runsDirectory).filter((name) => !name.startsWith('.')) : [];
}

/**
 * @param {string} tag
 * @returns {RunRecord | undefined}
 */
function readRecord(tag) {
  try {
    return JSON.parse(readFileSync(`${runsDirectory}/${tag}/run.json`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Creates the folder together with its record, because a folder without a record looks abandoned. @param {RunRecord} record */
function createDirectoryWith(record) {
  const unfinished = `${runsDirectory}/.${record.tag}`;
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(`${unfinished}/run.json`, JSON.stringify(record));
  renameSync(unfinished, `${runsDirectory}/${record.tag}`);
}

/** @param {RunRecord} record */
function replaceRecord(record) {
  const path = `${runsDirectory}/${record.tag}/run.json`;
  writeFileSync(`${path}.new`, JSON.stringify(record));
  renameSync(`${path}.new`, path);
}

/** A shell, which needs less memory than Node, waits until its standard input closes, and then becomes the watchdog. */
const waiting = 'trap "" INT TERM HUP; read -r end; exec "$@"';

/** Starts the watchdog, whose standard input closes when this process ends for any reason. @param {string} tag */
function startWatchdog(tag) {
  const command = [process.execPath, fileURLToPath(new URL('watchdog.mjs', import.meta.url)), tag];
  const args = ['-c', waiting, 'watchdog', ...command];
  const watchdog = spawn('sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  watchdog.on('error', () => {});
  watchdog.unref();
  // Without `unref`, the pipe would keep this process running. The pipe's type does not declare this method.
  if (watchdog.stdin && 'unref' in watchdog.stdin && typeof watchdog.stdin.unref === 'function') watchdog.stdin.unref();
}
