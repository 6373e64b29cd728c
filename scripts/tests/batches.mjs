// @ts-check

/**
 * @typedef {object} Batch files of one suite that a process of mocha runs sequentially
 * @property {import('./suites.mjs').Suite} suite
 * @property {string[]} files
 * @property {number} seconds expected duration
 */

/** Target duration of a batch in seconds, including about two for starting mocha and loading the code. */
const batchSeconds = 120;

/** Target duration in serial suites. It is longer, because their batches do not run in parallel. */
const oneAtATimeSeconds = 300;

/** Target duration with a dedicated project. It is shorter, because the emulators are faster with small projects. */
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
  const max = suite.oneAtATime ? oneAtATimeSeconds : batchSeconds;
  const wanted = suite.ownProject ? ownProjectSeconds : max;
  const batches = Array.from({ length: Math.ceil(total / wanted) }, () => newBatch(suite));
  for (const file of files.toSorted((one, other) => secondsOf(other) - secondsOf(one))) {
    const shortest = batches.reduce((min, batch) => (batch.seconds < min.seconds ? batch : min));
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
 * Sorts batches. Batches without emulators come first, because they can run while the emulators boot. Serial batches
 * come next, so that they do not all remain for the end. Short batches come last, so that workers end together.
 * @param {Batch[]} batches
 */
export function inOrder(batches) {
  const first = batches.filter(({ suite }) => !suite.emulators);
  const single = batches.filter(({ suite }) => suite.emulators && suite.oneAtATime);
  const others = batches.filter(({ suite }) => suite.emulators && !suite.oneAtATime);
  return [...first, ...single, ...others.sort((one, other) => other.seconds - one.seconds)];
}
