// @ts-check
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTimeOf } from '../processes/identity.mjs';

/**
 * Runs the work while no other process runs work under that file: two `npm start` in a fresh clone must not both
 * install.
 * @template Result
 * @param {string} file
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function exclusively(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  while (!take(file)) await delay(200);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A link appears with its content, and only where there is none yet. @param {string} file */
function take(file) {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid) }));
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

/** Whether the process that took it is alive. @param {string} file */
function isHeld(file) {
  try {
    const { pid, startTime } = JSON.parse(readFileSync(file, 'utf8'));
    return startTimeOf(pid) === startTime;
  } catch {
    return false; // given back meanwhile
  }
}
