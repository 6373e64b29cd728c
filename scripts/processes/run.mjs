// @ts-check
/**
 * A run: one `npm start` or `npm test` with all that it starts. Whatever ends it (Ctrl-C, a crash, SIGKILL, the
 * terminal closing), its processes and temporary files go: by itself where it still can, else by its watchdog, else,
 * where both were killed, by the next run.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endMarked } from '../../runner/src/process/ending.mjs';
import { listProcesses, startTimeOf } from '../../runner/src/process/table.mjs';
import { devDirectory } from '../project.mjs';

/** Every process of a run carries this variable, and so do the processes that they start, detached or not. */
export const runVariable = 'MUSTER_RUN';

/** How long processes have to end after they are asked, in milliseconds. */
const GENTLE_MS = 6000;

/**
 * @typedef {object} RunRecord what the watchdog, or the next run, needs to know
 * @property {string} tag
 * @property {string} kind
 * @property {number} pid
 * @property {string} startTime with the pid, the identity of the process that owns the run
 * @property {string[]} remove files and folders that go with it
 *
 * @typedef {object} Run
 * @property {string} tag
 * @property {string} directory for debug logs
 * @property {string} temporary for sockets
 * @property {string} suffix for files beside this run's: empty, unless another run of the same kind is alive
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
  const temporary = `${tmpdir()}/muster-${tag}`; // not below the project: a socket's path must be under 100 bytes
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
 * Ends the run's processes and removes what it leaves. Safe to call twice, and by two processes at once.
 * @param {string} tag
 */
export async function closeRun(tag) {
  await endMarked(`${runVariable}=${tag}`, { gentleMs: GENTLE_MS });
  const record = readRecord(tag);
  for (const path of record?.remove ?? []) rmSync(path, { recursive: true, force: true });
  rmSync(`${runsDirectory}/${tag}`, { recursive: true, force: true });
}

/** The living processes of a run, without the asking one. @param {string} tag */
export function processesOf(tag) {
  return listProcesses(`${runVariable}=${tag}`) ?? [];
}

/** Clears up after runs whose owner and watchdog were both killed. */
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

/** The folder appears with its record in it: without one it would pass for an abandoned run. @param {RunRecord} record */
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

/** The watchdog's standard input closes when this process ends, in whatever way. @param {string} tag */
function startWatchdog(tag) {
  const script = fileURLToPath(new URL('watchdog.mjs', import.meta.url));
  const watchdog = spawn(process.execPath, [script, tag], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.on('error', () => {});
  watchdog.unref();
  // A pipe keeps the event loop alive unless it is told not to; the types do not know that it is a socket.
  if (watchdog.stdin && 'unref' in watchdog.stdin && typeof watchdog.stdin.unref === 'function')
    watchdog.stdin.unref();
}
