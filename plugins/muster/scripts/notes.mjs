// @ts-check
/**
 * Stores on this machine which news of an agent were reported, and which process reports them. Of several sessions
 * with one credential, only one is woken.
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, isRunning, ownFolder } from './session.mjs';

/** Time after which a lock that was not renewed is free, because another process may reuse the id of its process. */
const FREE_AFTER_MS = 60_000;

export class Notes {
  #path;
  #token = randomUUID();

  /** @param {string} scope identifies hub, workspace and credential @param {string} agent */
  constructor(scope, agent) {
    this.#path = join(ownFolder(), `wake-${digestOf(`${scope} ${agent}`)}`);
  }

  /** @returns {Set<string>} keys of the news that were reported */
  told() {
    const told = parsed(this.#path);
    return new Set(Array.isArray(told) ? told : []);
  }

  /** @param {ReadonlySet<string>} told */
  save(told) {
    const complete = this.#written([...told]);
    renameSync(complete, this.#path);
  }

  /** Returns whether this process may report news. Renews the lock of the process, or takes a free one. */
  lock() {
    const path = `${this.#path}.lock`;
    const holder = parsed(path);
    if (holder?.token === this.#token) {
      utimesSync(path, new Date(), new Date());
      return true;
    }
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    // The time is in the future if the clock was set back.
    const isFresh = at !== undefined && Math.abs(Date.now() - at) < FREE_AFTER_MS;
    if (isFresh && Number.isInteger(holder?.pid) && isRunning(holder.pid)) return false;
    const complete = this.#written({ pid: process.pid, token: this.#token });
    try {
      if (at === undefined) linkSync(complete, path);
      else renameSync(complete, path);
    } catch {
      return false; // Another process was first. The next attempt finds its lock.
    } finally {
      rmSync(complete, { force: true });
    }
    return parsed(path)?.token === this.#token;
  }

  unlock() {
    const path = `${this.#path}.lock`;
    if (parsed(path)?.token === this.#token) rmSync(path, { force: true });
  }

  /** @param {unknown} value @returns {string} the path of a new file with the value */
  #written(value) {
    const path = `${this.#path}.${randomUUID()}`;
    writeFileSync(path, JSON.stringify(value), { mode: 0o600, flag: 'wx' });
    return path;
  }
}

/** @param {string} path @returns {any} the value in a file; undefined if the file is missing or damaged */
function parsed(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
