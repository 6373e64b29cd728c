// @ts-check

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} specs a folder, or one file
 * @property {boolean} emulators whether it needs emulators
 * @property {boolean} [chromium] whether it opens pages
 * @property {number} seconds timeout of a test. It is long, because a busy machine is ten times slower
 * @property {boolean} [ownProject] whether it runs in a dedicated project, without triggers
 * @property {boolean} [oneAtATime] whether its files must run one at a time. They share the functions, and some kill
 * instances of functions, run schedules or delete topics
 * @property {boolean} [optional] whether it runs only if named
 */

/** The suites, fastest first. @type {Suite[]} */
export const suites = [
  { name: 'unit', specs: 'test/unit', emulators: false, seconds: 120 },
  { name: 'stored', specs: 'test/stored', emulators: false, seconds: 120 },
  { name: 'contract', specs: 'test/contract', emulators: false, seconds: 120 },
  { name: 'rtdb-lite', specs: 'rtdb-lite/test', emulators: false, seconds: 120 },
  { name: 'views', specs: 'test/views', emulators: false, chromium: true, seconds: 120 },
  { name: 'runner', specs: 'runner/test', emulators: false, seconds: 120 },
  // This suite needs no emulators, because it starts separate ones.
  { name: 'start', specs: 'test/start', emulators: false, seconds: 300 },
  { name: 'rules', specs: 'test/rules', emulators: true, seconds: 120 },
  { name: 'integration', specs: 'test/integration', emulators: true, seconds: 180, ownProject: true },
  // This suite has no dedicated project, because people can sign in only to the emulators' default project.
  { name: 'signin', specs: 'test/signin', emulators: true, chromium: true, seconds: 120 },
  { name: 'attack', specs: 'test/attack', emulators: true, seconds: 300 },
  { name: 'bench', specs: 'test/bench', emulators: true, seconds: 300 },
  { name: 'e2e', specs: 'test/e2e', emulators: true, chromium: true, seconds: 300, oneAtATime: true },
  { name: 'real', specs: 'test/real', emulators: false, seconds: 300, optional: true },
];

/** Timeout in seconds of a test in the nightly run, in which property tests make many more attempts. */
export const nightlySeconds = 900;

/**
 * Files that run serially at the end, each with the reason.
 * @type {Record<string, string>}
 */
export const serialFiles = {
  'test/attack/survival.test.ts': 'it expects responses to other callers within a second during an attack',
  'test/e2e/systemStatus.test.ts': 'it expects the report of an unreachable database within 3 seconds',
  'test/e2e/busyMachine.nightly.ts': 'it loads all cores and counts started instances',
  'test/e2e/clock.test.ts': 'it moves the clock of all deployed functions',
};

/**
 * Folders whose files run after all other serial files, each with the reason.
 * @type {Record<string, string>}
 */
export const lastFiles = {
  'test/e2e/console':
    'Firestore’s emulator keeps serving the listeners of pages as long as it runs, which slows every write',
};

/**
 * Files that run in a dedicated project, alongside other files, each with the reason.
 * @type {Record<string, string>}
 */
export const inEmptyProject = {
  'test/integration/operator/erasure.test.ts': 'it compares the content of both databases',
  'test/integration/upload/upload.test.ts':
    'no function may log an error, and a sweep reads documents that other tests have broken',
};
