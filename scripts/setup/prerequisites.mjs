// @ts-check
/** Imports nothing that an old Node lacks: it is the one to say that Node is too old. */
import { spawnSync } from 'node:child_process';
import { unlinkSync, writeFileSync } from 'node:fs';

const oldestNode = 20;
const oldestJava = 11;

/** What Debian, Ubuntu and Google call the same browser. */
const chromiums = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * Ends the process with one line that says what to install, where something is missing.
 * @param {{ java: boolean }} needs
 */
export function checkPrerequisites(needs = { java: true }) {
  endWhere(missingPrerequisite(needs));
}

/** The same for the tests of pages, which alone need a browser. */
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
    return `Node ${oldestNode} or newer is needed, this is ${process.version}: https://nodejs.org`;
  if (!isWritable()) return `This folder cannot be written, which npm needs: ${process.cwd()}`;
  if (!answers('git')) return 'Git is needed and there is none: https://git-scm.com/downloads';
  if (!answers('npm')) return 'npm is needed and there is none: it comes with Node, https://nodejs.org';
  return needs.java ? missingJava() : undefined;
}

/** A folder of one's own that is mounted for reading says so only when it is tried. */
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
  const needed = `Java ${oldestJava} or newer is needed for the emulators`;
  const java = javaMajor();
  if (java === undefined) return `${needed} and there is none: https://adoptium.net`;
  return java < oldestJava ? `${needed}, this is ${java}: https://adoptium.net` : undefined;
}

/** @returns {string | undefined} */
export function missingChromium() {
  const own = process.env.MUSTER_CHROMIUM;
  if (own) return answers(own) ? undefined : `MUSTER_CHROMIUM names no browser that starts: ${own}`;
  if (chromiums.some(answers)) return undefined;
  const install = "install Debian's package chromium, or set MUSTER_CHROMIUM";
  return `Chromium is needed for the tests of pages and there is none: ${install}`;
}

/** @param {string} program */
function answers(program) {
  return spawnSync(program, ['--version']).status === 0;
}

/** 8 calls itself 1.8. @returns {number | undefined} */
function javaMajor() {
  const asked = spawnSync('java', ['-version'], { encoding: 'utf8' });
  const version = asked.status === 0 ? /version "(?:1\.)?(\d+)/.exec(`${asked.stderr}${asked.stdout}`) : null;
  return version === null ? undefined : Number(version[1]);
}
