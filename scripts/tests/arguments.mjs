// @ts-check
import { suites } from './suites.mjs';

/**
 * @typedef {object} Choice what the arguments of `npm test --` ask for
 * @property {import('./suites.mjs').Suite[]} chosen
 * @property {boolean} everything whether types and style are asked for too
 * @property {boolean} nightly whether what only repeats is run too
 * @property {boolean} recordTimes
 * @property {boolean} help
 * @property {string[]} mochaOptions
 */

/**
 * Names of suites and spec files come first, then options for mocha; our own options may stand anywhere.
 * @param {string[]} args
 * @returns {Choice}
 */
export function choose(args) {
  const ours = ['--nightly', '--record-times', '--help'];
  const [nightly, recordTimes, help] = ours.map((option) => args.includes(option));
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
    help: help === true,
    mochaOptions,
  };
}

/** @param {string} name @returns {import('./suites.mjs').Suite} */
function suiteFor(name) {
  const path = name.replace(/^\.\//, '');
  const suite = suites.find(
    (one) => one.name === name || path === one.specs || path.startsWith(`${one.specs}/`),
  );
  if (suite === undefined) {
    throw new Error(
      `there is no suite or spec file ${name}; the suites are ${suites.map((one) => one.name).join(', ')}`,
    );
  }
  return suite.name === name ? suite : { ...suite, specs: path };
}

/** What `npm test -- --help` prints. */
export function help() {
  const lines = suites.map(
    ({ name, specs, emulators, optional }) =>
      `  ${name.padEnd(12)} ${specs}${emulators ? ', with emulators' : ''}${optional ? '; only by its name' : ''}`,
  );
  return `npm test                           types, style and all suites
npm test -- unit rules             only these suites
npm test -- test/unit/a.test.ts    only these files, or those of a folder
npm test -- e2e --grep claim       what comes after the names goes to mocha: --grep <words>, --bail, --timeout 0
npm run test:nightly               with the files *.nightly.ts too, larger numbers and another seed each night;
                                   takes the same arguments

The suites:
${lines.join('\n')}

Options:
  --record-times     writes how long each file took to scripts/tests/times.json, by which files are shared out
  --nightly          what npm run test:nightly adds
  --help             this text

Environment variables:
  MUSTER_SEED=7            other random values in property tests; a failure prints its seed
  MUSTER_ATTACK_CALLS=500  so many hostile calls; MUSTER_ATTACK_SECONDS=20 for so long
  MUSTER_CHROMIUM=<path>   the browser for tests of pages, where it is not found by its name
  MUSTER_WITHOUT_PUBSUB=1  as on a machine that has no Pub/Sub emulator
  UPDATE_SNAPSHOTS=1       writes a new version of what is stored
`;
}
