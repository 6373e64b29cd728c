// @ts-check

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} specs a folder, or one file
 * @property {boolean} emulators whether it needs them
 * @property {boolean} [chromium] whether it opens pages
 * @property {number} seconds the timeout of a test by day. It only ends a test that hangs: a busy machine is ten times slower
 * @property {boolean} [ownProject] whether it is run in a project of its own, of which no trigger hears
 * @property {boolean} [oneAtATime] whether two of its files would be in each other's way: they share the deployed
 *   functions, whose instances some kill, whose schedules some tick and whose topics some take away
 * @property {boolean} [optional] whether it is run only by its name
 */

/** In this order: what answers soonest first. @type {Suite[]} */
export const suites = [
  { name: 'unit', specs: 'test/unit', emulators: false, seconds: 120 },
  { name: 'stored', specs: 'test/stored', emulators: false, seconds: 120 },
  { name: 'contract', specs: 'test/contract', emulators: false, seconds: 120 },
  { name: 'rtdb-lite', specs: 'rtdb-lite/test', emulators: false, seconds: 120 },
  { name: 'views', specs: 'test/views', emulators: false, chromium: true, seconds: 120 },
  { name: 'runner', specs: 'runner/test', emulators: false, seconds: 120 },
  // It starts emulators of its own.
  { name: 'start', specs: 'test/start', emulators: false, seconds: 300 },
  { name: 'rules', specs: 'test/rules', emulators: true, seconds: 120 },
  { name: 'integration', specs: 'test/integration', emulators: true, seconds: 180, ownProject: true },
  // In the emulators' own project: in no other can people sign in.
  { name: 'signin', specs: 'test/signin', emulators: true, chromium: true, seconds: 120 },
  { name: 'attack', specs: 'test/attack', emulators: true, seconds: 300 },
  { name: 'e2e', specs: 'test/e2e', emulators: true, chromium: true, seconds: 300, oneAtATime: true },
  { name: 'real', specs: 'test/real', emulators: false, seconds: 300, optional: true },
];

/** How long one test may take by night, when it repeats what it tries by day. */
export const nightSeconds = 900;

/**
 * Files that are run at the end, with nothing beside them, and why.
 * @type {Record<string, string>}
 */
export const alone = {
  'test/attack/survival.test.ts': 'others are answered within a second while an instance is attacked',
  'test/e2e/systemStatus.test.ts': 'it is told within 3 seconds that a database is away',
  'test/e2e/busyMachine.nightly.ts': 'it loads all cores and counts the instances that are started then',
  'test/e2e/clock.test.ts': 'it moves the clock of everything that is deployed',
};

/**
 * Folders whose files are run after all others that are run one at a time, and why.
 * @type {Record<string, string>}
 */
export const late = {
  'test/e2e/console':
    'Firestore’s emulator answers what pages have listened to for as long as it runs, which slows every write',
};

/**
 * Files that have a project for themselves, beside which others run in theirs, and why.
 * @type {Record<string, string>}
 */
export const inEmptyProject = {
  'test/integration/operator/erasure.test.ts': 'it compares all that both databases hold',
  'test/integration/upload/upload.test.ts':
    'no function may log an error, and a sweep meets what other tests have broken',
};
