// @ts-check
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { devDirectory } from '../project.mjs';
import { tickOnce } from '../start/schedules.mjs';
import { durationOf } from './duration.mjs';

const usage = 'npm run clock -- advance <duration> | show | reset [--endpoint <.dev/endpoint.json>]';

/**
 * @param {string[]} args
 * @returns {Promise<string>} what to tell
 */
export async function moveClock(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { endpoint: { type: 'string', default: `${devDirectory}/endpoint.json` } },
  });
  const [command, duration, ...more] = positionals;
  const isAdvance = command === 'advance';
  if (more.length > 0 || (duration !== undefined && !isAdvance)) throw new Error(usage);
  const { clockFile, emulators } = endpointIn(values.endpoint);
  if (command === 'show') return timeAt(offsetIn(clockFile));
  if (command === 'reset') rmSync(clockFile, { force: true });
  else if (isAdvance) write(clockFile, offsetIn(clockFile) + durationOf(duration));
  else throw new Error(usage);
  const failures = await tickOnce(`http://${emulators.functions}`);
  return [timeAt(offsetIn(clockFile)), ...failures].join('\n');
}

/**
 * @param {string} file
 * @returns {{ clockFile: string, emulators: { functions: string } }}
 */
function endpointIn(file) {
  if (!existsSync(file)) throw new Error('npm start is not running: only the emulators have a clock to move');
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param {string} file @returns {number} milliseconds */
function offsetIn(file) {
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
}

/** All at once: an instance may read it at any time. @param {string} file @param {number} offset */
function write(file, offset) {
  writeFileSync(`${file}.new`, String(offset));
  renameSync(`${file}.new`, file);
}

/** @param {number} offset */
function timeAt(offset) {
  const time = new Date(Date.now() + offset).toISOString();
  return offset === 0 ? `${time} (not moved)` : `${time} (${offset / 1000} seconds ahead)`;
}
