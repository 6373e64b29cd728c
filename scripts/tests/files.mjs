// @ts-check
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { root } from '../project.mjs';

const timesFile = `${root}/scripts/tests/times.json`;

/** A file that takes fewer seconds is not recorded in the table. */
const minSeconds = 7;

/** Assumed seconds of a file that is not in the table. */
const defaultSeconds = 1;

/**
 * @param {string} path a folder, or one file
 * @param {boolean} nightly whether to include nightly files
 */
export function specFiles(path, nightly) {
  if (!existsSync(`${root}/${path}`)) return [];
  if (statSync(`${root}/${path}`).isFile()) return [path];
  const wanted = nightly ? /\.(test|nightly)\.ts$/ : /\.test\.ts$/;
  return readdirSync(`${root}/${path}`, { recursive: true, encoding: 'utf8' })
    .filter((file) => wanted.test(file) && !file.includes('node_modules'))
    .map((file) => `${path}/${file}`)
    .sort();
}

/** @returns {(file: string) => number} a file's recorded seconds */
export function recordedSeconds() {
  const times = recordedTimes();
  return (file) => times[file] ?? defaultSeconds;
}

/** Records the files' times in the table, without deleted files. @param {Map<string, number>} seconds */
export function recordTimes(seconds) {
  const times = { ...recordedTimes(), ...Object.fromEntries(seconds) };
  const kept = Object.entries(times)
    .filter(([file, took]) => Math.round(took) >= minSeconds && existsSync(`${root}/${file}`))
    .map(([file, took]) => [file, Math.round(took)])
    .sort();
  writeFileSync(timesFile, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`);
}

/** @returns {Record<string, number>} */
function recordedTimes() {
  return JSON.parse(readFileSync(timesFile, 'utf8'));
}
