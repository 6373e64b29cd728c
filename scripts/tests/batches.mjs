// @ts-check

/**
 * @typedef {object} Batch files of one suite that a process of mocha runs sequentially
 * @property {import('./suites.mjs').Suite} suite
 * @property {string[]} files
 * @property {number} seconds expected duration
 */

/** Includes about two seconds for starting mocha and loading the code. */
const batchSeconds = 120;

/** Batches of serial suites are longer, because splitting them saves no time. */
const oneAtATimeSeconds = 300;

/** Batches with a dedicated project are shorter, because the emulators respond faster in small projects. */
const ownProjectSeconds = 45;

/**
 * Splits the suite's files into batches of similar duration.
 * @param {import('./suites.mjs').Suite} suite
 * @param {string[]} files
 * @param {(file: string) => number} secondsOf expected duration of a file
 * @returns {Batch[]} longest first
 */
export function batchesOf(suite, files, secondsOf) {
  const total = files.reduce((sum, file) => sum + secondsOf(file), 0);
  const most = suite.oneAtATime ? oneAtATimeSeconds : batchSeconds;
  const wanted = suite.ownProject ? ownProjectSeconds : most;
  const batches = Array.from({ length: Math.ceil(total / wanted) }, () => newBatch(suite));
  for (const file of files.toSorted((one, other) => secondsOf(other) - secondsOf(one))) {
    const shortest = batches.reduce((least, batch) => (batch.seconds < least.seconds ? batch : least));
    shortest.files.push(file);
    shortest.seconds += secondsOf(file);
  }
  return batches.filter(({ files: its }) => its.length > 0).sort((one, other) => other.seconds - one.seconds);
}

/** @param {import('./suites.mjs').Suite} suite @returns {Batch} */
function newBatch(suite) {
  return { suite, files: [], seconds: 0 };
}

/**
 * Sorts batches: those without emulators run while the emulators boot; then serial ones, so that they do not remain for
 * the end; and short ones last, so that no worker waits long for another.
 * @param {Batch[]} batches
 */
export function inOrder(batches) {
  const first = batches.filter(({ suite }) => !suite.emulators);
  const single = batches.filter(({ suite }) => suite.emulators && suite.oneAtATime);
  const others = batches.filter(({ suite }) => suite.emulators && !suite.oneAtATime);
  return [...first, ...single, ...others.sort((one, other) => other.seconds - one.seconds)];
}
