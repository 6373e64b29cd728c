// @ts-check
/** Imports nothing that an old Node lacks: it is the one to say that Node is too old. */
import { spawnSync } from 'node:child_process';

const oldestNode = 20;
const oldestJava = 11;

/** Ends the process with one line that says what to install, where something is missing. */
export function checkPrerequisites() {
  const missing = missingPrerequisite();
  if (missing === undefined) return;
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}

function missingPrerequisite() {
  const node = Number.parseInt(process.versions.node, 10);
  if (node < oldestNode)
    return `Node ${oldestNode} or newer is needed, this is ${process.version}: https://nodejs.org`;
  const java = javaMajor();
  const jdk = 'https://adoptium.net';
  if (java === undefined)
    return `Java ${oldestJava} or newer is needed for the emulators and there is none: ${jdk}`;
  if (java < oldestJava)
    return `Java ${oldestJava} or newer is needed for the emulators, this is ${java}: ${jdk}`;
  if (!answers('git')) return 'Git is needed and there is none: https://git-scm.com/downloads';
  if (!answers('npm')) return 'npm is needed and there is none: it comes with Node, https://nodejs.org';
  return undefined;
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
