// @ts-check

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} specs
 * @property {boolean} emulators whether it needs them
 * @property {number} seconds how long one test may take
 * @property {boolean} [optional] whether it is run only by its name
 */

/** In this order: what answers soonest first. @type {Suite[]} */
export const suites = [
  { name: 'unit', specs: 'test/unit', emulators: false, seconds: 10 },
  { name: 'stored', specs: 'test/stored', emulators: false, seconds: 10 },
  { name: 'contract', specs: 'test/contract', emulators: false, seconds: 20 },
  { name: 'rtdb-lite', specs: 'rtdb-lite/test', emulators: false, seconds: 60 },
  { name: 'runner', specs: 'runner/test', emulators: false, seconds: 120 },
  { name: 'rules', specs: 'test/rules', emulators: true, seconds: 30 },
  { name: 'integration', specs: 'test/integration', emulators: true, seconds: 180 },
  { name: 'attack', specs: 'test/attack', emulators: true, seconds: 300 },
  { name: 'e2e', specs: 'test/e2e', emulators: true, seconds: 300 },
  { name: 'real', specs: 'test/real', emulators: false, seconds: 300, optional: true },
];

/**
 * What the arguments of `npm test --` ask for: names of suites and spec files, then options for mocha.
 * @param {string[]} args
 * @returns {{ chosen: Suite[], everything: boolean, mochaOptions: string[] }}
 */
export function chooseSuites(args) {
  const firstOption = args.findIndex((arg) => arg.startsWith('-'));
  const names = firstOption === -1 ? args : args.slice(0, firstOption);
  const mochaOptions = firstOption === -1 ? [] : args.slice(firstOption);
  const usual = suites.filter((suite) => !suite.optional);
  if (names.length === 0) return { chosen: usual, everything: mochaOptions.length === 0, mochaOptions };
  return { chosen: names.map(suiteFor), everything: false, mochaOptions };
}

/** @param {string} name @returns {Suite} */
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
  return suite.name === name ? suite : { ...suite, name: path, specs: path };
}
