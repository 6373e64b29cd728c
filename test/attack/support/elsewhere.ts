/**
 * What callers can change where Firestore is not asked: their own data in the Realtime Database, and GitHub. All else
 * that the Realtime Database holds is noted of each call, refused or not.
 */
import { createHash } from 'node:crypto';
import { ask } from '../../../bench/load/client.ts';
import type { World } from '../../support/github/world.ts';

const FREE_FORM = ['messages', 'shared'];

const RULES = '.settings/rules';

export interface Database {
  /** As a function is told it. */
  readonly url: string;
  /** Tells two states of what callers may write freely apart, and nothing more. */
  state(): Promise<readonly string[]>;
}

/** A new, empty Realtime Database under the rules of the suite's own: what others have left there would be in the way. */
export async function newDatabase(name: string): Promise<Database> {
  const own = new URL(process.env['DATABASE_URL'] ?? '').searchParams.get('ns') ?? '';
  const namespace = `${name}-default-rtdb`;
  await call(namespace, RULES, 'PUT', await call(own, RULES));
  return {
    url: `https://${namespace}.firebaseio.com`,
    state: () => Promise.all(FREE_FORM.map((path) => call(namespace, path))),
  };
}

/** Another text wherever something has changed that callers can change outside of Firestore. */
export async function elsewhere(database: Database, gitHub: World): Promise<string> {
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

/** @throws Error where the emulator does not answer 200 */
async function call(namespace: string, path: string, method = 'GET', body?: string): Promise<string> {
  const url = `http://${process.env['FIREBASE_DATABASE_EMULATOR_HOST']}/${path}.json?ns=${namespace}`;
  const { status, text } = await ask(method, url, { authorization: 'Bearer owner' }, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return text;
}
