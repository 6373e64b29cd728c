// @ts-check
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTimeOf } from '../../runner/src/process/table.mjs';

/**
 * Runs work while holding an exclusive lock file, because only one `npm start` in a fresh clone may install packages.
 * @template Result
 * @param {string} file
 * @param {() => Promise<Result>} work
 * @param {(message: string) => void} [say] called once, with a message about the process that holds the lock
 * @returns {Promise<Result>}
 */
export async function exclusively(file, work, say) {
  mkdirSync(dirname(file), { recursive: true });
  for (let tries = 0; !take(file); tries++) {
    if (tries === TRIES_IN_SILENCE) say?.(waitingFor(file));
    await delay(200);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** Number of attempts before a message is printed. */
const TRIES_IN_SILENCE = 5;

/** @param {string} file */
function waitingFor(file) {
  const { pid, command } = holderOf(file) ?? {};
  if (pid === undefined) return 'waiting for another command to end';
  return `waiting for ${command ?? 'another command'} (process ${pid}), which holds the lock`;
}

/** Creates the file together with its content, unless the file exists. @param {string} file */
function take(file) {
  const mine = `${file}.${process.pid}`;
  const command = commandOf(process.env);
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid), command }));
  try {
    linkSync(mine, file);
    return true;
  } catch {
    if (!isHeld(file)) rmSync(file, { force: true });
    return false;
  } finally {
    rmSync(mine);
  }
}

/** Returns the npm command as the person typed it. @param {NodeJS.ProcessEnv} env */
function commandOf({ npm_lifecycle_event: script }) {
  return script === undefined ? undefined : `npm ${['start', 'test'].includes(script) ? '' : 'run '}${script}`;
}

/** Returns whether the process that holds the lock is running. @param {string} file */
function isHeld(file) {
  const holder = holderOf(file);
  return holder !== undefined && startTimeOf(holder.pid) === holder.startTime;
}

/**
 * @param {string} file
 * @returns {{ pid: number, startTime: unknown, command?: string } | undefined} undefined if it was released in the meantime
 */
function holderOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
