// @ts-check
import { suites } from './suites.mjs';

/**
 * @typedef {object} Choice parsed arguments of `npm test --`
 * @property {import('./suites.mjs').Suite[]} chosen
 * @property {boolean} everything whether to check types and style too
 * @property {boolean} nightly whether to run nightly tests too
 * @property {boolean} recordTimes
 * @property {string[]} mochaOptions
 */

/**
 * Parses the names of suites and spec files, which come first, and options. Options not listed here are for mocha.
 * @param {string[]} args
 * @returns {Choice}
 */
export function choose(args) {
  const ours = ['--nightly', '--record-times'];
  const [nightly, recordTimes] = ours.map((option) => args.includes(option));
  const others = args.filter((arg) => !ours.includes(arg));
  const firstOption = others.findIndex((arg) => arg.startsWith('-'));
  const names = firstOption === -1 ? others : others.slice(0, firstOption);
  const mochaOptions = firstOption === -1 ? [] : others.slice(firstOption);
  const chosen = names.length === 0 ? suites.filter((suite) => !suite.optional) : names.map(suiteFor);
  return {
    chosen,
    everything: names.length === 0 && mochaOptions.length === 0,
    nightly: nightly === true || chosen.some(({ specs }) => specs.endsWith('.nightly.ts')),
    recordTimes: recordTimes === true,
    mochaOptions,
  };
}

/** @param {string} name @returns {import('./suites.mjs').Suite} */
function suiteFor(name) {
  const path = name.replace(/^\.\//, '');
  const suite = suites.find((one) => one.name === name || path === one.specs || path.startsWith(`${one.specs}/`));
  if (suite === undefined)
    throw new Error(`unknown suite or spec file ${name}; the suites are ${suites.map((one) => one.name).join(', ')}`);
  return suite.name === name ? suite : { ...suite, specs: path };
}

/** Returns the text of `npm test -- --help`. */
export function help() {
  const lines = suites.map(
    ({ name, specs, emulators, optional }) =>
      `  ${name.padEnd(12)} ${specs}${emulators ? ', with emulators' : ''}${optional ? '; only if named' : ''}`,
  );
  return `npm test                           checks types and style, and runs all suites
npm test -- unit rules             runs only these suites
npm test -- test/unit/a.test.ts    runs only these files or folders
npm test -- e2e --grep claim       passes options after the names to mocha: --grep <words>, --bail, --timeout 0
npm run test:nightly               adds the files *.nightly.ts, more repetitions and another seed each night;
                                   accepts the same arguments

Suites:
${lines.join('\n')}

Options:
  --record-times     writes the time of each file to scripts/tests/times.json, which is used to balance batches
  --nightly          includes the tests of npm run test:nightly
  --help             prints this text

Environment variables:
  MUSTER_SEED=7            seed of random values in property tests; a failed test prints its seed
  MUSTER_ATTACK_CALLS=500  number of hostile calls; set MUSTER_ATTACK_SECONDS=20 to limit them by time instead
  MUSTER_CHROMIUM=<path>   browser for tests of pages, unless it is on the path
  MUSTER_WITHOUT_PUBSUB=1  runs as without a Pub/Sub emulator
  UPDATE_SNAPSHOTS=1       updates the stored snapshots
`;
}
