/** Direct access to both databases with a person's ID token, as an app without Muster's tools would have. */
import assert from 'node:assert/strict';
import type { Permission } from '../../../functions/src/access/rules/permissions.ts';

type Database = Permission['database'];

/** Returns whether the security rules let the token's owner read the path, even if there is no data. */
export async function mayRead(idToken: string, database: Database, path: string): Promise<boolean> {
  return isLet(await asked(idToken, database, path, {}));
}

/** Writes at the path, and returns whether the security rules allowed the write. */
export async function mayWrite(idToken: string, database: Database, path: string): Promise<boolean> {
  const document = database === 'firestore' ? { fields: { text: { stringValue: 'hello' } } } : { text: 'hello' };
  const method = database === 'firestore' ? 'PATCH' : 'PUT';
  const headers = { 'content-type': 'application/json' };
  return isLet(await asked(idToken, database, path, { method, headers, body: JSON.stringify(document) }));
}

async function asked(
  idToken: string,
  database: Database,
  path: string,
  init: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<number> {
  const plain = path.split('/').map(encodeURIComponent).join('/');
  if (database === 'firestore') {
    const headers = { ...init.headers, authorization: `Bearer ${idToken}` };
    return (await fetch(`${firestore()}/${plain}`, { ...init, headers })).status;
  }
  const { url, namespace } = realtime();
  return (await fetch(`${url}/${plain}.json?ns=${namespace}&auth=${idToken}`, init)).status;
}

function isLet(status: number): boolean {
  assert.ok([200, 401, 403, 404].includes(status), `HTTP ${status}`);
  return status === 200 || status === 404;
}

function firestore(): string {
  const { FIRESTORE_EMULATOR_HOST: host, GCLOUD_PROJECT: project } = process.env;
  return `http://${host}/v1/projects/${project}/databases/(default)/documents`;
}

function realtime(): { readonly url: string; readonly namespace: string } {
  const { FIREBASE_DATABASE_EMULATOR_HOST: host, DATABASE_URL = '' } = process.env;
  const namespace = new URL(DATABASE_URL).searchParams.get('ns');
  assert.ok(namespace, DATABASE_URL);
  return { url: `http://${host}`, namespace };
}
