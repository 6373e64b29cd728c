// @ts-check
import { readFileSync } from 'node:fs';
import { projectId, root } from '../project.mjs';

/**
 * A project of its own in the running emulators for one process of tests: other processes' documents are not there,
 * and no trigger hears of it, which would do first what is tested and takes as much of the machine as the tests do.
 * Only in the emulators' own project can people and agents sign in: the Auth emulator knows no other by an API key.
 * @param {Record<string, string>} env how the emulators are reached
 * @param {string} name
 * @returns {Promise<Record<string, string>>} the same, in that project
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
 * Has both databases of a project keep to other security rules.
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
  if (!response.ok) throw new Error(`${url} answered ${response.status} ${await response.text()}`);
}
