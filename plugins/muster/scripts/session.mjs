// @ts-check
/**
 * Stores the state of a Claude Code session on this machine. The session's hooks and the process that sends its
 * heartbeats run in parallel. Each part of the state is a file that is created or replaced atomically, so that no
 * change of another process is lost. The heartbeat process writes its id into the file created for it.
 *
 *     <folder>/working         exists while the model works; modified at the last hook     <folder>/beat the process
 * that sends heartbeats; modified at the last heartbeat     <folder>/agent-<digest>  the id of an agent of the
 * session     <folder>.ended           exists after the session has ended, so that hooks still running write nothing
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/** Time between two heartbeats. Set `MUSTER_BEAT_SECONDS` for leases shorter than the default. */
export const HEARTBEAT_INTERVAL_MS = Number(process.env.MUSTER_BEAT_SECONDS || 45) * 1000;

/** Time without a heartbeat after which a process counts as ended, because another process may reuse its id. */
const GONE_AFTER_MS = Math.max(90_000, 2 * HEARTBEAT_INTERVAL_MS);

/** Retention of `<folder>.ended`. No hook runs for longer than this. */
const KEEP_ENDED_MS = 24 * 60 * 60 * 1000;
const AGENT = 'agent-';

export class Session {
  /** @param {string} folder path of the folder, as returned by `folderOf` */
  constructor(folder) {
    this.folder = folder;
    this.ended = `${folder}.ended`;
  }

  /** Starts the session, or resumes one that has ended. */
  begin() {
    rmSync(this.ended, { force: true });
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    removeOldMarks(dirname(this.folder));
  }

  /** Records that the model is working. */
  work() {
    this.#put('working', '');
  }

  /** Records that the model has stopped. The process that sends heartbeats then ends. */
  rest() {
    this.#remove('working');
    this.#remove('beat');
  }

  /** Removes the state atomically, so that a hook that is still running cannot restore a part of the state. */
  end() {
    writeFileSync(this.ended, '', { mode: 0o600 });
    const removed = `${this.folder}.${randomUUID()}`;
    try {
      renameSync(this.folder, removed);
    } catch {
      return; // The session had no state.
    }
    rmSync(removed, { recursive: true, force: true });
  }

  hasEnded() {
    return timeOf(this.ended) !== undefined;
  }

  /** @param {string} id agent that the session acts as */
  addAgent(id) {
    const name = `${AGENT}${digestOf(id)}`;
    if (this.#read(name) !== id) this.#put(name, id);
  }

  /** @returns {string[]} */
  agents() {
    return namesIn(this.folder)
      .filter((name) => name.startsWith(AGENT))
      .map((name) => this.#read(name) ?? '')
      .filter((id) => id !== '');
  }

  /**
   * @returns {number | undefined} time of the last hook, in milliseconds; undefined if the model is not working, or
   *   the session has ended
   */
  lastSign() {
    return this.hasEnded() ? undefined : timeOf(join(this.folder, 'working'));
  }

  /**
   * @returns {number | undefined} time of the last hook, even if the model has stopped; undefined without a hook. The
   *   folder changes when the model starts or stops
   */
  lastHook() {
    const times = [this.folder, join(this.folder, 'working')].map((path) => timeOf(path) ?? 0);
    return Math.max(...times) || undefined;
  }

  /**
   * Decides whether a new process may send the heartbeats of this session.
   * @param {{ always: boolean }} wish `always` replaces a process that seems to be running
   * @returns {string | undefined} the token of the new process; undefined if another process sends the heartbeats
   */
  reserveHeartbeat({ always }) {
    if (!always && this.#isBeating()) return undefined;
    const token = randomUUID();
    const record = JSON.stringify({ token });
    if (always || this.#read('beat') !== undefined) this.#put('beat', record);
    else if (!this.#putFirst('beat', record)) return undefined; // A concurrent hook was first.
    return token;
  }

  /**
   * Records that this process has sent a heartbeat.
   * @param {string} token
   * @returns {boolean} false if another process has replaced this one, or the model has stopped
   */
  keepHeartbeat(token) {
    const file = opened(join(this.folder, 'beat'));
    if (file === undefined) return false;
    try {
      if (beatIn(readFileSync(file, 'utf8'))?.token !== token) return false;
      // Writes to the file that is open. If a hook has replaced that file, the new file is unchanged.
      writeSync(file, JSON.stringify({ token, pid: process.pid }), 0);
      return true;
    } finally {
      closeSync(file);
    }
  }

  /** @param {string} token */
  endHeartbeat(token) {
    if (this.#beat()?.token === token) this.#remove('beat');
  }

  #isBeating() {
    const at = timeOf(join(this.folder, 'beat'));
    // The time is in the future if the clock was set back.
    if (at === undefined || Math.abs(Date.now() - at) > GONE_AFTER_MS) return false;
    const record = this.#beat();
    // A record without a process id belongs to a process that is starting.
    return record !== undefined && (record.pid === undefined || isRunning(record.pid));
  }

  #beat() {
    return beatIn(this.#read('beat') ?? '');
  }

  /** @param {string} name */
  #read(name) {
    try {
      return readFileSync(join(this.folder, name), 'utf8');
    } catch {
      return undefined;
    }
  }

  /** Writes a file atomically. @param {string} name @param {string} text */
  #put(name, text) {
    const complete = this.#written(text);
    try {
      renameSync(complete, join(this.folder, name));
    } finally {
      rmSync(complete, { force: true });
    }
  }

  /** Writes a file unless it exists. @param {string} name @param {string} text @returns {boolean} if written */
  #putFirst(name, text) {
    const complete = this.#written(text);
    try {
      linkSync(complete, join(this.folder, name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      this.#put(name, text); // The file system does not support hard links.
      return true;
    } finally {
      rmSync(complete, { force: true });
    }
  }

  /** @param {string} text @returns {string} the path of a new file with the text */
  #written(text) {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, `new-${randomUUID()}`);
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
    return path;
  }

  /** @param {string} name */
  #remove(name) {
    rmSync(join(this.folder, name), { force: true });
  }
}

/**
 * Returns the folder of a session.
 * @param {string} id session id of Claude Code
 * @throws Error if the parent folder belongs to another user
 */
export function folderOf(id) {
  return join(ownFolder(), digestOf(id));
}

/** Returns the folder of all sessions. Checks who owns it, because other users can guess its name and create it. */
export function ownFolder() {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `muster-${uid ?? userInfo().username}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || (uid !== undefined && found.uid !== uid))
    throw new Error(
      `${folder} belongs to another user, so your tasks' leases may expire while the model thinks. Set TMPDIR to a folder that you own.`,
    );
  if (uid !== undefined && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return folder;
}

/** @param {string} folder folder of all sessions */
function removeOldMarks(folder) {
  for (const name of namesIn(folder).filter((one) => one.endsWith('.ended'))) {
    const path = join(folder, name);
    if (Date.now() - (timeOf(path) ?? 0) > KEEP_ENDED_MS) rmSync(path, { force: true });
  }
}

/** @param {string} folder */
function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** @param {string} text @returns {{ token: unknown, pid: number | undefined } | undefined} undefined if invalid */
function beatIn(text) {
  try {
    const { token, pid } = JSON.parse(text);
    return pid === undefined || Number.isInteger(pid) ? { token, pid } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} path @returns {number | undefined} descriptor for reading and writing; undefined if missing */
function opened(path) {
  try {
    return openSync(path, 'r+');
  } catch {
    return undefined;
  }
}

/** @param {string} path @returns {number | undefined} */
function timeOf(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** @param {number} pid */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** @param {string} text */
export function digestOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
