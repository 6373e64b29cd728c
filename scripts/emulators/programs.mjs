// @ts-check
import { cloudSdkFirestoreJar } from './cloudSdk.mjs';
import { canHaveUi, download, isCached } from './googleJars.mjs';

/**
 * @typedef {object} Programs
 * @property {string | undefined} firestoreJar undefined where firebase-tools finds it by itself
 * @property {'google' | 'rtdb-lite'} database
 * @property {boolean} ui
 */

const firestoreMissing =
  'The Firestore emulator is missing: connect to the internet once, or install the Google Cloud CLI with its ' +
  'component cloud-firestore-emulator (gcloud components install cloud-firestore-emulator).';

/**
 * Finds the emulators: cached, else downloaded, else those of the Google Cloud CLI; for the Realtime Database, which
 * has no other source than Google's download host, our own stand-in.
 * @param {{ ui: boolean, say: (message: string) => void }} wanted
 * @returns {Promise<Programs>}
 */
export async function findPrograms(wanted) {
  const { say } = wanted;
  const [firestore, database, ui] = await Promise.all([
    isCached('firestore') || download('firestore', say),
    isCached('database') || download('database', say),
    wanted.ui && canHaveUi(),
  ]);
  const firestoreJar = firestore ? undefined : cloudSdkFirestoreJar();
  if (!firestore && firestoreJar === undefined) throw new Error(firestoreMissing);
  if (!database) say('the Realtime Database emulator is out of reach: rtdb-lite stands in');
  return { firestoreJar, database: database ? 'google' : 'rtdb-lite', ui };
}
