// @ts-check

/**
 * @typedef {object} Batch files of one suite that a process of mocha runs one after the other
 * @property {import('./suites.mjs').Suite} suite
 * @property {string[]} files
 * @property {number} seconds how long they are expected to take
 */

/** Starting mocha and loading the code takes about two seconds of these. */
const batchSeconds = 120;

/** Where only one batch runs at a time, more of them are no sooner done. */
const oneAtATimeSeconds = 300;

/** Where each batch has a project of its own, the emulators answer the sooner the less has been done in it. */
const ownProjectSeconds = 45;

/**
 * Shares the suite's files out, so that each batch takes about as long as the others.
 * @param {import('./suites.mjs').Suite} suite
 * @param {string[]} files
 * @param {(file: string) => number} secondsOf how long a file is expected to take
 * @returns {Batch[]} the longest first
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
 * The order in which they are taken: what needs no emulators runs while those boot; then what can only be run one at
 * a time, so that it does not remain for the end; and short ones last, so that no lane waits long for the other.
 * @param {Batch[]} batches
 */
export function inOrder(batches) {
  const first = batches.filter(({ suite }) => !suite.emulators);
  const single = batches.filter(({ suite }) => suite.emulators && suite.oneAtATime);
  const others = batches.filter(({ suite }) => suite.emulators && !suite.oneAtATime);
  return [...first, ...single, ...others.sort((one, other) => other.seconds - one.seconds)];
}
