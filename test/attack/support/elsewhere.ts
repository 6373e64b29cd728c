/**
 * What callers can change where Firestore is not asked: their own data in the Realtime Database, and GitHub. All else
 * that the Realtime Database holds is noted of each call, refused or not.
 */
import { createHash } from 'node:crypto';
import { Agent, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { World } from '../../support/github/world.ts';

const FREE_FORM = ['messages', 'shared'];

const RULES = '.settings/rules';

const connections = new Agent({ keepAlive: true });

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
  await ask(namespace, RULES, { method: 'PUT' }, await ask(own, RULES));
  return {
    url: `https://${namespace}.firebaseio.com`,
    state: () => Promise.all(FREE_FORM.map((path) => ask(namespace, path))),
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
function ask(namespace: string, path: string, more: RequestOptions = {}, body?: string): Promise<string> {
  const url = `http://${process.env['FIREBASE_DATABASE_EMULATOR_HOST']}/${path}.json?ns=${namespace}`;
  const options = { agent: connections, headers: { authorization: 'Bearer owner' }, ...more };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const said = text(response);
      if (response.statusCode === 200) said.then(resolve, reject);
      else said.then((why) => reject(new Error(`${path}: ${response.statusCode} ${why}`)), reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
