/**
 * State outside Firestore that callers can change: free-form data in the Realtime Database, and GitHub. The other
 * data of the Realtime Database is not compared, because every call changes it.
 */
import { createHash } from 'node:crypto';
import { ask } from '../../../bench/load/client.ts';
import type { GitHubState } from '../../support/github/state.ts';

const FREE_FORM = ['messages', 'shared'];
const RULES = '.settings/rules';

export interface Database {
  /** URL of the database in the format of the function's environment variable. */
  readonly url: string;
  /** Returns the free-form data of the database. */
  state(): Promise<readonly string[]>;
}

/** Creates an empty Realtime Database for one test, with the rules that the suite uses. */
export async function newDatabase(name: string): Promise<Database> {
  const own = new URL(process.env['DATABASE_URL'] ?? '').searchParams.get('ns') ?? '';
  const namespace = `${name}-default-rtdb`;
  await call(namespace, RULES, 'PUT', await call(own, RULES));
  return {
    url: `https://${namespace}.firebaseio.com`,
    state: () => Promise.all(FREE_FORM.map((path) => call(namespace, path))),
  };
}

/** Returns a text that differs from the previous one if a caller has changed anything outside Firestore. */
export async function elsewhere(database: Database, gitHub: GitHubState): Promise<string> {
  const repositories = [...gitHub.repositories.values()].map(({ fullName, branches, issues, pulls }) => ({
    fullName,
    branches: [...branches],
    issues,
    pulls,
  }));
  return createHash('sha256')
    .update(JSON.stringify([await database.state(), repositories]))
    .digest('hex');
}

/** @throws Error if the emulator does not respond with the status 200 */
async function call(namespace: string, path: string, method = 'GET', body?: string): Promise<string> {
  const url = `http://${process.env['FIREBASE_DATABASE_EMULATOR_HOST']}/${path}.json?ns=${namespace}`;
  const { status, text } = await ask(method, url, { authorization: 'Bearer owner' }, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return text;
}
