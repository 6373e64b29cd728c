// @ts-check
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startTimeOf } from '../processes/identity.mjs';
import { devDirectory } from '../project.mjs';

/**
 * Runs the work while no other process runs work of that name: two `npm start` in a fresh clone must not both install.
 * @param {string} name
 * @param {() => Promise<void>} work
 */
export async function exclusively(name, work) {
  const file = `${devDirectory}/${name}.lock`;
  mkdirSync(devDirectory, { recursive: true });
  while (!take(file)) await delay(200);
  try {
    await work();
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
