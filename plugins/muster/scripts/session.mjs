// @ts-check
/**
 * The state of one session of Claude Code on this machine. Its hooks run at the same time, and beside them the process
 * that sends its heartbeats. Each part is a file that appears, or is replaced, as a whole, and no writer loses what another
 * has written. The process that sends heartbeats writes its id into the file that was made for it.
 *
 *     <folder>/working         while the model works; its time is that of the last hook
 *     <folder>/beat            the process that sends heartbeats; its time is that of the last one
 *     <folder>/agent-<digest>  the id of an agent of the session
 *     <folder>.ended           after the session has ended: a hook that is still running writes nothing
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

/** Time between two heartbeats. `MUSTER_BEAT_SECONDS` is for leases shorter than the default. */
export const BETWEEN_BEATS_MS = Number(process.env.MUSTER_BEAT_SECONDS || 45) * 1000;

/** A process that has sent nothing for so long is gone, even if one with its id runs: ids are given out again. */
const GONE_AFTER_MS = Math.max(90_000, 2 * BETWEEN_BEATS_MS);

/** Longer than any hook runs, which are the readers of `<folder>.ended`. */
const KEEP_ENDED_MS = 24 * 60 * 60 * 1000;

const AGENT = 'agent-';

export class Session {
  /** @param {string} folder see `folderOf` */
  constructor(folder) {
    this.folder = folder;
    this.ended = `${folder}.ended`;
  }

  /** Begins the session, or resumes one that has ended. */
  begin() {
    rmSync(this.ended, { force: true });
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    removeOldMarks(dirname(this.folder));
  }

  /** Records that the model works. */
  work() {
    this.#put('working', '');
  }

  /** Records that the model has stopped. The process that sends heartbeats ends. */
  rest() {
    this.#remove('working');
    this.#remove('beat');
  }

  /** Removes the state all at once, so that a hook that is still running cannot bring back a part. */
  end() {
    writeFileSync(this.ended, '', { mode: 0o600 });
    const removed = `${this.folder}.${randomUUID()}`;
    try {
      renameSync(this.folder, removed);
    } catch {
      return; // the session had no state
    }
    rmSync(removed, { recursive: true, force: true });
  }

  hasEnded() {
    return timeOf(this.ended) !== undefined;
  }

  /** @param {string} id of an agent that the session acts as */
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
   * @returns {number | undefined} when the last hook ran, in milliseconds; undefined if the model does not work or the
   *   session has ended
   */
  lastSign() {
    return this.hasEnded() ? undefined : timeOf(join(this.folder, 'working'));
  }

  /**
   * Reserves the sending of heartbeats for a new process.
   * @param {{ always: boolean }} wish `always` replaces a process that seems to be running
   * @returns {string | undefined} the token of the new process; undefined if another sends heartbeats
   */
  reserveBeat({ always }) {
    if (!always && this.#isBeating()) return undefined;
    const token = randomUUID();
    const record = JSON.stringify({ token });
    if (always || this.#read('beat') !== undefined) this.#put('beat', record);
    else if (!this.#putFirst('beat', record)) return undefined; // a hook beside this one was first
    return token;
  }

  /**
   * Records that this process sends heartbeats.
   * @param {string} token
   * @returns {boolean} false if another process does so instead, or the model has stopped
   */
  keepBeat(token) {
    const file = opened(join(this.folder, 'beat'));
    if (file === undefined) return false;
    try {
      if (beatIn(readFileSync(file, 'utf8'))?.token !== token) return false;
      // Into the file that was read: if a hook replaces it meanwhile, the new one stays.
      writeSync(file, JSON.stringify({ token, pid: process.pid }), 0);
      return true;
    } finally {
      closeSync(file);
    }
  }

  /** @param {string} token */
  endBeat(token) {
    if (this.#beat()?.token === token) this.#remove('beat');
  }

  #isBeating() {
    const at = timeOf(join(this.folder, 'beat'));
    // A clock that was set back makes a time of the future.
    if (at === undefined || Math.abs(Date.now() - at) > GONE_AFTER_MS) return false;
    const record = this.#beat();
    // Without an id it has just been started.
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

  /** Writes a file that no reader sees before it is complete. @param {string} name @param {string} text */
  #put(name, text) {
    const complete = this.#written(text);
    try {
      renameSync(complete, join(this.folder, name));
    } finally {
      rmSync(complete, { force: true });
    }
  }

  /** Writes a file unless it exists. @param {string} name @param {string} text @returns {boolean} whether it was written */
  #putFirst(name, text) {
    const complete = this.#written(text);
    try {
      linkSync(complete, join(this.folder, name));
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      this.#put(name, text); // a file system without links
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
 * @param {string} id of the session
 * @throws Error if the folder that holds it belongs to another user
 */
export function folderOf(id) {
  return join(ownFolder(), digestOf(id));
}

/** Another user can guess the name and make the folder first. */
function ownFolder() {
  const uid = process.getuid?.();
  const folder = join(tmpdir(), `muster-${uid ?? userInfo().username}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || (uid !== undefined && found.uid !== uid))
    throw new Error(
      `${folder} belongs to another user, so nothing keeps your tasks while the model thinks. Set TMPDIR to a folder of yours.`,
    );
  if (uid !== undefined && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
  return folder;
}

/** @param {string} folder of all sessions */
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

/** @param {string} text @returns {{ token: unknown, pid: number | undefined } | undefined} undefined if it cannot be read */
function beatIn(text) {
  try {
    const { token, pid } = JSON.parse(text);
    return pid === undefined || Number.isInteger(pid) ? { token, pid } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} path @returns {number | undefined} a file that can be read and written; undefined if it is missing */
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
function isRunning(pid) {
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
function digestOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
