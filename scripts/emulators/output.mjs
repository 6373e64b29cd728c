// @ts-check
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * @typedef {object} Output where what the emulators say goes: all of it to a file, what a developer wants to the screen
 * @property {(source: string, line: string) => void} line
 * @property {() => string} tail the last lines, for an error message
 */

const keptForErrors = 15;

/**
 * @param {string} file
 * @param {{ screen: boolean }} options
 * @returns {Output}
 */
export function openOutput(file, { screen }) {
  const stream = createWriteStream(file);
  /** @type {string[]} */
  const last = [];
  return {
    line(source, line) {
      const entry = `${source.padEnd(9)} | ${line}`;
      stream.write(`${new Date().toISOString()} ${entry}\n`);
      last.push(entry);
      if (last.length > keptForErrors) last.shift();
      if (screen && isWorthShowing(line)) process.stdout.write(`${entry}\n`);
    },
    tail: () => last.join('\n'),
  };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {(line: string) => void} receive
 */
export function forEachLine(child, receive) {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', receive);
  }
}

/** What the functions themselves log begins with `>`; the rest is news of firebase-tools about itself. */
const functionLog = /^>\s/;
const trouble = /^(⚠|✖|Error\b)|\b(error|failed|exception)\b/i;
const noise =
  /MOTD|multiple instances|not currently authenticated|BINARY_PATH|Env variable override|Java version|has exited upon|adminSdkConfig|Application Default Credentials|emulators are not running|function ignored/;

/** @param {string} line */
function isWorthShowing(line) {
  return functionLog.test(line) || (trouble.test(line) && !noise.test(line));
}
