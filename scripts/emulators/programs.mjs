// @ts-check
import { cloudSdkFirestore, cloudSdkPubsub } from './cloudSdk.mjs';
import { download, isCached, isWithinReach, unpacked } from './googleJars.mjs';

/**
 * @typedef {object} Programs
 * @property {Record<string, string>} env paths of programs that firebase-tools does not find
 * @property {'google' | 'rtdb-lite'} database
 * @property {string | undefined} pubsub the program, if available
 * @property {boolean} ui
 */

/** If set, Muster runs as without a Pub/Sub emulator: `MUSTER_WITHOUT_PUBSUB=1 npm start`. */
const withoutPubsub = process.env.MUSTER_WITHOUT_PUBSUB !== undefined;

/**
 * Finds the emulators: cached, else downloaded, else from the Google Cloud CLI. The Realtime Database is only
 * available from Google's download host, so rtdb-lite replaces it; Pub/Sub is optional.
 * @param {{ ui: boolean, node: string, say: (message: string) => void }} wanted
 * @returns {Promise<Programs>}
 */
export async function findPrograms(wanted) {
  const { say } = wanted;
  const [firestore, database, downloaded, ui] = await Promise.all([
    isCached('firestore') || download('firestore', say),
    isCached('database') || download('database', say),
    withoutPubsub ? undefined : unpacked('pubsub', wanted),
    wanted.ui && isWithinReach('ui'),
  ]);
  const pubsub = downloaded ?? (withoutPubsub ? undefined : cloudSdkPubsub());
  if (!database) say('the Realtime Database emulator is not available: using rtdb-lite');
  if (pubsub === undefined) say('the Pub/Sub emulator is not available: events go directly to their consumers');
  return {
    env: {
      ...(!firestore && { FIRESTORE_EMULATOR_BINARY_PATH: found('cloud-firestore-emulator', cloudSdkFirestore()) }),
    },
    database: database ? 'google' : 'rtdb-lite',
    pubsub: pubsub,
    ui,
  };
}

/** @param {string} component @param {string | undefined} path */
function found(component, path) {
  if (path !== undefined) return path;
  throw new Error(
    `The ${component} is missing: connect to the internet once, or install the Google Cloud CLI with it ` +
      `(gcloud components install ${component}).`,
  );
}
