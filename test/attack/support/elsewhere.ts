/**
 * What callers can change where Firestore is not asked: their own data in the Realtime Database, and GitHub. All else
 * that the Realtime Database holds is noted of each call, refused or not.
 */
import { createHash } from 'node:crypto';
import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import type { World } from '../../support/github/world.ts';

const FREE_FORM = ['messages', 'shared'];

const connections = new Agent({ keepAlive: true });

/** Tells two states apart, and nothing more. */
export async function elsewhere(gitHub: World): Promise<string> {
  const data = await Promise.all(FREE_FORM.map(read));
  const repositories = [...gitHub.repositories.values()].map(({ fullName, branches, issues, pulls }) => ({
    fullName,
    branches: [...branches],
    issues,
    pulls,
  }));
  return createHash('sha256')
    .update(JSON.stringify([data, repositories]))
    .digest('hex');
}

function read(path: string): Promise<string> {
  const { FIREBASE_DATABASE_EMULATOR_HOST: host, DATABASE_URL: database } = process.env;
  const namespace = new URL(database ?? '').searchParams.get('ns');
  const options = { agent: connections, headers: { authorization: 'Bearer owner' } };
  return new Promise((resolve, reject) => {
    const sent = get(`http://${host}/${path}.json?ns=${namespace}`, options, (response) => {
      text(response).then(resolve, reject);
    });
    sent.once('error', reject);
  });
}
