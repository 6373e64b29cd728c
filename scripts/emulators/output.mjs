// @ts-check
import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { devDirectory } from '../project.mjs';

/**
 * @typedef {object} Output writes the emulators' output: all lines to a file, relevant lines to the screen
 * @property {(source: string, line: string) => void} line
 * @property {string} file
 * @property {() => string} tail the last lines, for an error message
 */

const keptForErrors = 15;

/**
 * @param {import('../processes/run.mjs').Run} run
 * @param {string} name of the file in .dev/
 * @param {{ screen: boolean }} options
 * @returns {Output}
 */
export function openOutput(run, name, { screen }) {
  const file = `${devDirectory}/${name}${run.suffix}.log`;
  const stream = createWriteStream(file);
  /** @type {string[]} */
  const last = [];
  return {
    line(source, line) {
      const entry = labelled(source, line);
      stream.write(`${new Date().toISOString()} ${entry}\n`);
      last.push(entry);
      if (last.length > keptForErrors) last.shift();
      const shown = screen && !run.isEnding() ? forScreen(source, line) : undefined;
      if (shown !== undefined) process.stdout.write(`${shown}\n`);
    },
    file,
    tail: () => last.join('\n'),
  };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {(line: string) => void} receive
 */
export function forEachLine(child, receive) {
  for (const stream of [child.stdout, child.stderr]) if (stream) createInterface({ input: stream }).on('line', receive);
}

/** @param {string} source @param {string} line */
function labelled(source, line) {
  return `${source.padEnd(9)} | ${line}`;
}

/** A line that starts with `>` was logged by a function. All other lines are from firebase-tools itself. */
const functionLog = /^>\s+/;
/** Reports of schedules that found nothing to do, in which all counts are 0. */
const idle = /^[^1-9]*"message":"(reminders_sent|swept)"/;
const trouble = /^(⚠|✖|Error\b)|\b(error|failed|exception)\b/i;
const noise = [
  /MOTD|not currently authenticated|Application Default Credentials/, // the emulators need no Google account
  /multiple instances|Env variable override/, // expected while npm start or tests run
  /Java version|UI is not starting|has exited upon/,
  /emulators are not running|function ignored/, // about schedules, which scripts/start runs instead
];

/** @param {string} source @param {string} line @returns {string | undefined} */
function forScreen(source, line) {
  if (source === 'seed') return undefined; // the caller of the seed reports its errors
  if (functionLog.test(line)) {
    const logged = line.replace(functionLog, '');
    return idle.test(logged) ? undefined : labelled('functions', readable(logged));
  }
  const shown = trouble.test(line) && !noise.some((pattern) => pattern.test(line));
  return shown || source === 'schedules' ? labelled(source, line) : undefined;
}

/** Returns the message in a JSON log entry of a function. @param {string} logged */
function readable(logged) {
  try {
    const { severity, message, ...rest } = JSON.parse(logged);
    if (message === undefined) return logged;
    const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
    return `${severity === 'INFO' || severity === undefined ? '' : `${severity} `}${message}${details}`;
  } catch {
    return logged;
  }
}
