// @ts-check
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { devDirectory } from '../project.mjs';
import { Ticking } from '../start/schedules.mjs';
import { durationOf, durationText } from './duration.mjs';

export const usage = `npm run clock -- advance <duration>   moves the time of a running npm start, for example by 90s, 15m, 2h, 1d, 1w or 1d12h
npm run clock -- show                 prints the time of the running npm start
npm run clock -- reset                returns to the machine's time`;

/**
 * @param {string[]} args
 * @returns {Promise<string>} the message to print
 */
export async function moveClock(args) {
  const { command, duration, endpoint } = parsed(args);
  const { clockFile, emulators } = endpointIn(endpoint);
  if (command === 'show') return timeAt(offsetIn(clockFile));
  if (duration === undefined) rmSync(clockFile, { force: true });
  else write(clockFile, offsetIn(clockFile) + duration);
  const failures = await new Ticking(`http://${emulators.functions}`).tick();
  return [timeAt(offsetIn(clockFile)), ...failures].join('\n');
}

/**
 * @param {string[]} args
 * @returns {{ command: string, duration: number | undefined, endpoint: string }} the duration in milliseconds
 */
function parsed(args) {
  const { values, positionals } = parseArgs({
    args,
    strict: false,
    options: { endpoint: { type: 'string', default: `${devDirectory}/endpoint.json` } },
  });
  const { endpoint, ...unknown } = values;
  const [command = '', duration] = positionals;
  const wanted = command === 'advance' ? 2 : 1;
  const isKnown = ['advance', 'show', 'reset'].includes(command) && positionals.length === wanted;
  if (!isKnown || Object.keys(unknown).length > 0) throw new Error(usage);
  return { command, endpoint: String(endpoint), duration: duration === undefined ? undefined : durationOf(duration) };
}

/**
 * @param {string} file
 * @returns {{ clockFile: string, emulators: { functions: string } }}
 */
function endpointIn(file) {
  if (!existsSync(file)) throw new Error('npm start is not running. Only the clock of its emulators can be moved.');
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param {string} file @returns {number} milliseconds */
function offsetIn(file) {
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

/** Writes the file atomically, because an instance can read it at any time. @param {string} file @param {number} offset */
function write(file, offset) {
  writeFileSync(`${file}.new`, String(offset));
  renameSync(`${file}.new`, file);
}

/** @param {number} offset */
function timeAt(offset) {
  const time = new Date(Date.now() + offset).toISOString();
  return offset === 0 ? `${time}, the machine's time` : `${time}, ${durationText(offset)} ahead`;
}
