// @ts-check
/** This file imports only modules that an old Node has, because it reports if Node is too old. */
import { spawnSync } from 'node:child_process';
import { unlinkSync, writeFileSync } from 'node:fs';

const oldestNode = 20;
const oldestJava = 11;

/** Names of the browser's program on Debian, on Ubuntu and in Google's packages. */
const chromiums = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * Ends the process with a message about the first missing program, if any is missing.
 * @param {{ java: boolean }} needs
 */
export function checkPrerequisites(needs = { java: true }) {
  endWhere(missingPrerequisite(needs));
}

export function checkChromium() {
  endWhere(missingChromium());
}

/** @param {string | undefined} missing */
function endWhere(missing) {
  if (missing === undefined) return;
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}

/** @param {{ java: boolean }} needs */
function missingPrerequisite(needs) {
  const node = Number.parseInt(process.versions.node, 10);
  if (node < oldestNode)
    return `Node ${oldestNode} or newer is required, but this is ${process.version}. Get it from https://nodejs.org`;
  if (!isWritable()) return `npm requires write access to this folder: ${process.cwd()}`;
  if (!answers('git')) return 'Git is required but not installed. Get it from https://git-scm.com/downloads';
  if (!answers('npm')) return 'npm is required but not installed. It is part of Node: https://nodejs.org';
  return needs.java ? missingJava() : undefined;
}

/** Returns whether a folder is writable. Tries to write, because permissions do not show a read-only mount. */
function isWritable() {
  const file = `.muster-${process.pid}`;
  try {
    writeFileSync(file, '');
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

function missingJava() {
  const needed = `Java ${oldestJava} or newer is required for the emulators`;
  const java = javaMajor();
  if (java === undefined) return `${needed} but not installed. Get it from https://adoptium.net`;
  return java < oldestJava ? `${needed}, but this is ${java}. Get it from https://adoptium.net` : undefined;
}

/** @returns {string | undefined} */
export function missingChromium() {
  const own = process.env.MUSTER_CHROMIUM;
  if (own) return answers(own) ? undefined : `MUSTER_CHROMIUM is not a working browser: ${own}`;
  if (chromiums.some(answers)) return undefined;
  const install = "install Debian's package chromium, or set MUSTER_CHROMIUM";
  return `Chromium is required for the tests of pages but not installed: ${install}`;
}

/** @param {string} program */
function answers(program) {
  return spawnSync(program, ['--version']).status === 0;
}

/** Returns the major version. Java 8 reports version 1.8. @returns {number | undefined} */
function javaMajor() {
  const asked = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = asked.status === 0 ? /version "(?:1\.)?(\d+)/.exec(`${asked.stderr}${asked.stdout}`) : null;
  return version === null ? undefined : Number(version[1]);
}
