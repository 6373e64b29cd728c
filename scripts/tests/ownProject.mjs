// @ts-check
import { readFileSync } from 'node:fs';
import { projectId, root } from '../project.mjs';

/**
 * Returns the variables of a dedicated project in the running emulators, for one test process. The project has no
 * documents of other processes, and no trigger fires for its documents; both would disturb the test. People and agents
 * can sign in only to the emulators' default project, because the Auth emulator finds only that project by an API key.
 * @param {Record<string, string>} env variables that reach the emulators
 * @param {string} name
 * @returns {Promise<Record<string, string>>} variables for that project
 */
export async function ownProject(env, name) {
  const id = `${projectId}-${name}`;
  const database = new URL(env.DATABASE_URL ?? '');
  database.searchParams.set('ns', id);
  const own = {
    ...env,
    GCLOUD_PROJECT: id,
    GOOGLE_CLOUD_PROJECT: id,
    FIREBASE_CONFIG: JSON.stringify({ projectId: id, databaseURL: `https://${id}.firebaseio.com` }),
    DATABASE_URL: String(database),
  };
  await putRules(own, { firestore: read('firestore.rules'), database: read('database.rules.json') });
  return own;
}

/**
 * Sets the security rules of both databases of a project.
 * @param {Record<string, string>} env of the project
 * @param {{ firestore: string, database: string }} rules
 */
export async function putRules(env, { firestore, database }) {
  const { origin, search } = new URL(env.DATABASE_URL ?? '');
  const project = `http://${env.FIRESTORE_EMULATOR_HOST}/emulator/v1/projects/${env.GCLOUD_PROJECT}`;
  await Promise.all([
    put(`${project}:securityRules`, JSON.stringify({ rules: { files: [{ content: firestore }] } })),
    put(`${origin}/.settings/rules.json${search}`, database),
  ]);
}

/** @param {string} file */
function read(file) {
  return readFileSync(`${root}/${file}`, 'utf8');
}

/** @param {string} url @param {string} body */
async function put(url, body) {
  const response = await fetch(url, { method: 'PUT', headers: { authorization: 'Bearer owner' }, body });
  if (!response.ok) throw new Error(`${url} responded with ${response.status} ${await response.text()}`);
}
