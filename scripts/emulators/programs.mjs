// @ts-check
import { cloudSdkFirestore, cloudSdkPubsub } from './cloudSdk.mjs';
import { download, isCached, isWithinReach, unpacked } from './googleJars.mjs';

/**
 * @typedef {object} Programs
 * @property {Record<string, string>} env where firebase-tools finds those that it does not find by itself
 * @property {'google' | 'rtdb-lite'} database
 * @property {string | undefined} pubsub the program, if it can be had
 * @property {boolean} ui
 */

/** Set, Muster runs as on a machine that has no Pub/Sub emulator: `MUSTER_WITHOUT_PUBSUB=1 npm start`. */
const withoutPubsub = process.env.MUSTER_WITHOUT_PUBSUB !== undefined;

/**
 * Finds the emulators: cached, else downloaded, else those of the Google Cloud CLI; for the Realtime Database, which
 * has no other source than Google's download host, our own stand-in; and Muster can do without Pub/Sub.
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
  if (!database) say('the Realtime Database emulator is out of reach: rtdb-lite stands in');
  if (pubsub === undefined) say('there is no Pub/Sub emulator: events go straight to their consumers');
  return {
    env: {
      ...(!firestore && {
        FIRESTORE_EMULATOR_BINARY_PATH: found('cloud-firestore-emulator', cloudSdkFirestore()),
      }),
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
