// @ts-check
import { cloudSdkFirestore, cloudSdkPubsub } from './cloudSdk.mjs';
import { download, isCached, isWithinReach } from './googleJars.mjs';

/** What runs beside the functions and the Realtime Database. Pub/Sub needs no more than its name here: 'pubsub'. */
export const services = ['firestore', 'auth'];

/**
 * @typedef {object} Programs
 * @property {Record<string, string>} env where firebase-tools finds those that it does not find by itself
 * @property {'google' | 'rtdb-lite'} database
 * @property {boolean} ui
 */

/**
 * Finds the emulators: cached, else downloaded, else those of the Google Cloud CLI; for the Realtime Database, which
 * has no other source than Google's download host, our own stand-in.
 * @param {{ ui: boolean, say: (message: string) => void }} wanted
 * @returns {Promise<Programs>}
 */
export async function findPrograms(wanted) {
  const { say } = wanted;
  const [firestore, database, pubsub, ui] = await Promise.all([
    isCached('firestore') || download('firestore', say),
    isCached('database') || download('database', say),
    !services.includes('pubsub') || isWithinReach('pubsub'),
    wanted.ui && isWithinReach('ui'),
  ]);
  if (!database) say('the Realtime Database emulator is out of reach: rtdb-lite stands in');
  return {
    env: {
      ...(!firestore && {
        FIRESTORE_EMULATOR_BINARY_PATH: found('cloud-firestore-emulator', cloudSdkFirestore()),
      }),
      ...(!pubsub && { PUBSUB_EMULATOR_BINARY_PATH: found('pubsub-emulator', cloudSdkPubsub()) }),
    },
    database: database ? 'google' : 'rtdb-lite',
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
