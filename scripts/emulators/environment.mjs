// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { databaseNamespace, projectId, region, root } from '../project.mjs';
import { directToThisMachine } from '../setup/proxy.mjs';
import { host } from './ports.mjs';

/** Maximum number of processes per function, each of which serves one request at a time. The default is 50. */
const simultaneousInvocations = '16';

/** Prevents the SDKs from searching for Google's metadata server. */
const withoutGoogle = { METADATA_SERVER_DETECTION: 'none' };

/** Hides the developer's own API keys of model vendors, because calls with them would cost money. */
const withoutModels = { ANTHROPIC_API_KEY: undefined, GEMINI_API_KEY: undefined, MODEL_KEYS: undefined };

/**
 * Java's default heap starts with 1/64 of the machine's memory, and fills it with garbage. This heap starts small, and
 * grows only as far as the data needs. All versions of Java since 11 have these options.
 */
const smallJavaHeap =
  '-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xms16m -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40';

/** Limits the memory for new objects, which idle programs keep, to 3 MiB instead of 48. */
const smallNodeHeap = '--max-semi-space-size=1';

/**
 * @typedef {object} SuiteOptions
 * @property {import('../processes/run.mjs').Run} run the run to which the emulators belong, and with which they end
 * @property {string} node path of the Node that runs them
 * @property {import('./ports.mjs').Ports} ports
 * @property {import('./output.mjs').Output} output
 * @property {(message: string) => void} say
 * @property {boolean} [functions] false: only the databases and Auth
 * @property {boolean} [ui]
 * @property {boolean} [saveMemory] ends idle function processes, and keeps the heaps of all programs small
 * @property {Record<string, string>} [parameters] parameters of the functions, in addition to the committed ones
 * @property {boolean} [useLocalParameters] also uses the parameters in `functions/.env.local`
 * @property {string} [clientDocumentsUrl] local copies of clients' metadata documents
 * @property {string} [samplePeople] file of the people as whom the sign-in page offers to sign in with one click
 * @property {string} [importFrom] a folder written by `firebase emulators:export`
 */

/** @param {SuiteOptions} options @returns {NodeJS.ProcessEnv} */
export function emulatorsEnv(options) {
  const { run, node, ports, clientDocumentsUrl, samplePeople, saveMemory = false } = options;
  /** @type {NodeJS.ProcessEnv} */
  const theirs = { ...process.env, ...withoutModels, ...run.env };
  /** @type {NodeJS.ProcessEnv} */
  const direct = { ...theirs, ...directToThisMachine(theirs) }; // so that emulators call each other without a proxy
  return {
    FUNCTIONS_EMULATOR_PARALLEL: simultaneousInvocations,
    ...direct,
    ...clockEnv(run),
    MUSTER_MCP_URL: mcpUrl(ports), // with this address, the function recognizes requests below its path
    ...documentsEnv(clientDocumentsUrl),
    ...(samplePeople && { MUSTER_SAMPLE_PEOPLE: readFileSync(samplePeople, 'utf8') }),
    ...(options.useLocalParameters && localModels()),
    TMPDIR: run.temporary, // separates the emulator hub's files from those of other runs
    PATH: `${dirname(node)}:${process.env.PATH}`, // so that this Node runs the discovery of functions
    NO_UPDATE_NOTIFIER: '1',
    ...withoutGoogle,
    NODE_OPTIONS: `${saveMemory ? smallNodeHeap : ''} ${direct.NODE_OPTIONS ?? ''} --require ${JSON.stringify(`${root}/scripts/emulators/preload.cjs`)}`,
    ...(saveMemory && { JAVA_TOOL_OPTIONS: `${smallJavaHeap} ${direct.JAVA_TOOL_OPTIONS ?? ''}` }),
    // In seconds. If a process has not started by then, another one is started, and the caller of the first never
    // gets a response. On a busy machine, starting many processes takes more than a minute.
    FUNCTIONS_DISCOVERY_TIMEOUT: '240',
    FIREBASE_FUNCTIONS_DISCOVERY_OUTPUT_PATH: 'true', // discovery through a port could take Firestore's port
  };
}

/**
 * Returns the developer's own hosted agents, and whether the developer has signed in to Google for Vertex AI.
 * @returns {Record<string, string>}
 */
function localModels() {
  const file = `${root}/functions/models.local.json`;
  const login =
    process.env.GOOGLE_APPLICATION_CREDENTIALS ?? `${homedir()}/.config/gcloud/application_default_credentials.json`;
  return {
    ...(existsSync(file) && { MUSTER_MODELS: readFileSync(file, 'utf8') }),
    ...(existsSync(login) && { MUSTER_GOOGLE_LOGIN: 'yes' }),
  };
}

/**
 * Returns the variables with which Muster and the Google and Firebase SDKs reach the emulators.
 * @param {SuiteOptions} options
 * @param {{ functions: boolean, pubsub: boolean }} running
 * @returns {Record<string, string>}
 */
export function clientsEnv({ run, ports, clientDocumentsUrl }, { functions, pubsub }) {
  return {
    ...directToThisMachine(process.env),
    GCLOUD_PROJECT: projectId,
    GOOGLE_CLOUD_PROJECT: projectId,
    FIREBASE_CONFIG: JSON.stringify({ projectId, databaseURL: `https://${databaseNamespace}.firebaseio.com` }),
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

/** Returns the URL of the origin that serves Muster at its root. @param {import('./ports.mjs').Ports} ports */
export function originUrl(ports) {
  return `http://${host}:${ports.origin}`;
}

/** @param {import('./ports.mjs').Ports} ports */
export function consoleUrl(ports) {
  return `http://${host}:${ports.hosting}`;
}

/** Returns the endpoint's address in the functions emulator. @param {import('./ports.mjs').Ports} ports */
function mcpUrl(ports) {
  return `${functionsUrl(ports)}/${projectId}/${region}/mcp`;
}

/** @param {import('./ports.mjs').Ports} ports */
function functionsUrl(ports) {
  return `http://${host}:${ports.functions}`;
}

/**
 * Returns the variable for the URL. Without a URL, returns no variable, so that the value in the environment is used.
 * @param {string | undefined} url
 */
function documentsEnv(url) {
  return url === undefined ? undefined : { MUSTER_CLIENT_DOCUMENTS_URL: url };
}

/**
 * Returns the variable that contains the path of the clock's offset file, which `npm run clock` writes.
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
