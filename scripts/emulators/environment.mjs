// @ts-check
import { dirname } from 'node:path';
import { databaseNamespace, projectId, region, root } from '../project.mjs';
import { directToThisMachine } from '../setup/proxy.mjs';
import { host } from './ports.mjs';

/** Each request under way has a process of its own: firebase-tools alone would start up to 50. */
const simultaneousInvocations = '16';

/** The SDKs would otherwise ask the network whether it is Google's, and who they are there. */
const withoutGoogle = { METADATA_SERVER_DETECTION: 'none' };

/** What a person has these in their shell for is not Muster, and asking models costs money. */
const withoutModels = { ANTHROPIC_API_KEY: undefined, GEMINI_API_KEY: undefined };

/**
 * @typedef {object} SuiteOptions
 * @property {import('../processes/run.mjs').Run} run they end with it
 * @property {string} node the Node to run them with
 * @property {import('./ports.mjs').Ports} ports
 * @property {import('./output.mjs').Output} output
 * @property {(message: string) => void} say
 * @property {boolean} [functions] false: only the databases and Auth
 * @property {boolean} [ui]
 * @property {boolean} [sparing] ends processes of functions that are idle: whoever works with them has memory for more
 * @property {Record<string, string>} [parameters] of the functions, beside those that are committed
 * @property {boolean} [personal] the parameters in `functions/.env.local` hold beside them
 * @property {string} [clientDocumentsUrl] where this machine serves copies of clients' metadata documents
 * @property {string} [importFrom] a folder written by `firebase emulators:export`
 */

/** @param {SuiteOptions} options @returns {NodeJS.ProcessEnv} */
export function emulatorsEnv({ run, node, ports, clientDocumentsUrl }) {
  return {
    FUNCTIONS_EMULATOR_PARALLEL: simultaneousInvocations,
    ...process.env,
    ...withoutModels,
    ...run.env,
    ...directToThisMachine({ ...process.env, ...run.env }), // the emulators call each other
    ...clockEnv(run),
    MUSTER_MCP_URL: mcpUrl(ports), // by which the function knows that it was asked below its path
    ...documentsEnv(clientDocumentsUrl),
    TMPDIR: run.temporary, // also where a second run's hub would find the first one's
    PATH: `${dirname(node)}:${process.env.PATH}`, // the functions' definitions are read by whatever `node` is found first
    NO_UPDATE_NOTIFIER: '1',
    ...withoutGoogle,
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(`${root}/scripts/emulators/preload.cjs`)}`,
    // Seconds. An instance that takes longer to start is not ended, but left running beside its successors, and whoever
    // called it is never answered. A busy machine needs more than a minute for many at once.
    FUNCTIONS_DISCOVERY_TIMEOUT: '240',
    FIREBASE_FUNCTIONS_DISCOVERY_OUTPUT_PATH: 'true', // through a file: the other way takes a port near Firestore's
  };
}

/**
 * How to reach the emulators. The names are those that the Google and Firebase SDKs look for, and ours.
 * @param {SuiteOptions} options
 * @param {{ functions: boolean, pubsub: boolean }} running
 * @returns {Record<string, string>}
 */
export function clientsEnv({ run, ports, clientDocumentsUrl }, { functions, pubsub }) {
  return {
    ...directToThisMachine(process.env),
    GCLOUD_PROJECT: projectId,
    GOOGLE_CLOUD_PROJECT: projectId,
    FIREBASE_CONFIG: JSON.stringify({
      projectId,
      databaseURL: `https://${databaseNamespace}.firebaseio.com`,
    }),
    FIRESTORE_EMULATOR_HOST: `${host}:${ports.firestore}`,
    FIREBASE_AUTH_EMULATOR_HOST: `${host}:${ports.auth}`,
    ...databaseEnv(ports),
    ...(pubsub && pubsubEnv(ports)),
    DATABASE_URL: `http://${host}:${ports.database}/?ns=${databaseNamespace}`,
    ...clockEnv(run),
    FIREBASE_EMULATOR_HUB: `${host}:${ports.hub}`,
    ...withoutGoogle,
    ...(functions && {
      CLOUD_TASKS_EMULATOR_HOST: `${host}:${ports.tasks}`,
      MUSTER_FUNCTIONS_URL: functionsUrl(ports),
      MUSTER_MCP_URL: mcpUrl(ports),
      MUSTER_ORIGIN: originUrl(ports),
      MUSTER_CONSOLE_URL: consoleUrl(ports),
      ...documentsEnv(clientDocumentsUrl),
    }),
  };
}

/** The origin whose root is Muster's. @param {import('./ports.mjs').Ports} ports */
export function originUrl(ports) {
  return `http://${host}:${ports.origin}`;
}

/** The page on which people see. @param {import('./ports.mjs').Ports} ports */
export function consoleUrl(ports) {
  return `http://${host}:${ports.hosting}`;
}

/** The endpoint below the functions emulator's own root. @param {import('./ports.mjs').Ports} ports */
function mcpUrl(ports) {
  return `${functionsUrl(ports)}/${projectId}/${region}/mcp`;
}

/** @param {import('./ports.mjs').Ports} ports */
function functionsUrl(ports) {
  return `http://${host}:${ports.functions}`;
}

/**
 * Without it, what the environment says holds.
 * @param {string | undefined} url
 */
function documentsEnv(url) {
  return url === undefined ? undefined : { MUSTER_CLIENT_DOCUMENTS_URL: url };
}

/**
 * Where the functions find how far `npm run clock` has moved their time.
 * @param {import('../processes/run.mjs').Run} run
 */
export function clockEnv(run) {
  return { MUSTER_CLOCK_FILE: `${run.directory}/clock` };
}

/** @param {import('./ports.mjs').Ports} ports */
export function databaseEnv(ports) {
  return { FIREBASE_DATABASE_EMULATOR_HOST: `${host}:${ports.database}` };
}

/** @param {import('./ports.mjs').Ports} ports */
export function pubsubEnv(ports) {
  return { PUBSUB_EMULATOR_HOST: `${host}:${ports.pubsub}` };
}
