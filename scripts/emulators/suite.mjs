// @ts-check
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { databaseNamespace, projectId, region } from '../project.mjs';
import { writeConfig } from './config.mjs';
import { startFirebaseTools } from './firebaseTools.mjs';
import { host } from './ports.mjs';
import { findPrograms } from './programs.mjs';
import { importDatabase, startRtdbLite } from './realtimeDatabase.mjs';

/**
 * @typedef {object} Suite the running emulators
 * @property {import('./ports.mjs').Ports} ports
 * @property {Record<string, string>} env what a test, a seed or a benchmark needs to reach them
 * @property {boolean} ui
 * @property {Promise<string>} exited why they ended, if they ever do before the run does
 *
 * @typedef {object} SuiteOptions
 * @property {import('../processes/run.mjs').Run} run they end with it
 * @property {string} node the Node to run them with
 * @property {import('./ports.mjs').Ports} ports
 * @property {import('./output.mjs').Output} output
 * @property {(message: string) => void} say
 * @property {boolean} [functions] false: only the databases and Auth
 * @property {boolean} [ui]
 * @property {string} [importFrom] a folder written by `firebase emulators:export`
 * @property {Record<string, string>} [functionsEnv] more environment for the functions
 */

/** Each request under way has a process of its own: firebase-tools alone would start up to 50. */
const simultaneousInvocations = '16';

/** The SDKs would otherwise ask the network whether it is Google's, and who they are there. */
const withoutGoogle = { METADATA_SERVER_DETECTION: 'none' };

/**
 * @param {SuiteOptions} options
 * @returns {Promise<Suite>}
 */
export async function startSuite(options) {
  const { run, node, ports, output, functions = true } = options;
  const programs = await findPrograms({ ui: options.ui ?? false, say: options.say });
  const lite = programs.database === 'rtdb-lite';
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...commonEnv(options), ...(lite ? databaseEnv(ports) : {}) };
  if (programs.firestoreJar !== undefined) env.FIRESTORE_EMULATOR_BINARY_PATH = programs.firestoreJar;

  const emulators = ['firestore', 'auth', ...(functions ? ['functions'] : []), ...(lite ? [] : ['database'])];
  const importFrom =
    options.importFrom !== undefined && existsSync(options.importFrom) ? options.importFrom : undefined;
  // rtdb-lite goes first: a function may look for it as soon as it is loaded.
  const database = lite ? await startRtdbLite({ node, ports, env, output }) : undefined;
  if (lite && importFrom !== undefined) await importDatabase(ports, importFrom);
  const firebase = await startFirebaseTools({
    node,
    emulators,
    config: writeConfig(run, ports, { ui: programs.ui }),
    directory: run.directory,
    importFrom:
      importFrom !== undefined && existsSync(`${importFrom}/firebase-export-metadata.json`)
        ? importFrom
        : undefined,
    env,
    output,
  });
  const exited = Promise.race([firebase.exited, ...(database ? [database.exited] : [])]);
  return { ports, env: clientEnv(ports, functions), ui: programs.ui, exited };
}

/** @param {SuiteOptions} options @returns {NodeJS.ProcessEnv} */
function commonEnv({ run, node, functionsEnv }) {
  return {
    FUNCTIONS_EMULATOR_PARALLEL: simultaneousInvocations,
    ...process.env,
    ...functionsEnv,
    ...run.env,
    TMPDIR: run.temporary, // also where a second run's hub would find the first one's
    PATH: `${dirname(node)}:${process.env.PATH}`, // the functions' definitions are read by whatever `node` is found first
    NO_UPDATE_NOTIFIER: '1',
    ...withoutGoogle,
    FUNCTIONS_DISCOVERY_TIMEOUT: '60', // seconds; 10 are too few on a busy machine
    FIREBASE_FUNCTIONS_DISCOVERY_OUTPUT_PATH: 'true', // through a file: the other way takes a port near Firestore's
  };
}

/**
 * How to reach the emulators. The names are those that the Google and Firebase SDKs look for, and ours.
 * @param {import('./ports.mjs').Ports} ports
 * @param {boolean} functions
 * @returns {Record<string, string>}
 */
function clientEnv(ports, functions) {
  const functionsUrl = `http://${host}:${ports.functions}`;
  return {
    GCLOUD_PROJECT: projectId,
    GOOGLE_CLOUD_PROJECT: projectId,
    FIREBASE_CONFIG: JSON.stringify({
      projectId,
      databaseURL: `https://${databaseNamespace}.firebaseio.com`,
    }),
    FIRESTORE_EMULATOR_HOST: `${host}:${ports.firestore}`,
    FIREBASE_AUTH_EMULATOR_HOST: `${host}:${ports.auth}`,
    ...databaseEnv(ports),
    DATABASE_URL: `http://${host}:${ports.database}/?ns=${databaseNamespace}`,
    FIREBASE_EMULATOR_HUB: `${host}:${ports.hub}`,
    ...withoutGoogle,
    ...(functions && {
      MUSTER_FUNCTIONS_URL: functionsUrl,
      MUSTER_MCP_URL: `${functionsUrl}/${projectId}/${region}/mcp`,
    }),
  };
}

/** @param {import('./ports.mjs').Ports} ports */
function databaseEnv(ports) {
  return { FIREBASE_DATABASE_EMULATOR_HOST: `${host}:${ports.database}` };
}
