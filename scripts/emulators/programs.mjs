// @ts-check
import { cloudSdkFirestore, cloudSdkPubsub } from './cloudSdk.mjs';
import { download, isCached, isWithinReach, unpacked } from './googleJars.mjs';

/**
 * @typedef {object} Programs
 * @property {Record<string, string>} env variables with the paths of programs that firebase-tools would not find
 * @property {'google' | 'rtdb-lite'} database
 * @property {string | undefined} pubsub path of the Pub/Sub emulator, if available
 * @property {boolean} ui
 */

/** With `MUSTER_WITHOUT_PUBSUB=1 npm start`, Muster runs as if no Pub/Sub emulator were available. */
const withoutPubsub = process.env.MUSTER_WITHOUT_PUBSUB !== undefined;

/**
 * Finds the emulators in the cache of firebase-tools, else downloads them, else uses those of the Google Cloud CLI.
 * If the Realtime Database emulator cannot be downloaded, rtdb-lite replaces it. The Pub/Sub emulator is optional.
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
  if (!database) say('the Realtime Database emulator is not available, so rtdb-lite replaces it');
  if (pubsub === undefined) say('the Pub/Sub emulator is not available, so events go directly to their consumers');
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
    `The ${component} is missing. Connect to the internet once, or install it with the Google Cloud CLI ` +
      `(gcloud components install ${component}).`,
  );
}
