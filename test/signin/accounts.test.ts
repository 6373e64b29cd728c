/** Effects of account changes in Firebase Auth on the tokens and agents of the person. */
import assert from 'node:assert/strict';
import { getAuth } from 'firebase-admin/auth';
import { z } from 'zod';
import type { Change } from '../../functions/src/composition/changes.ts';

import { personPath } from '../../functions/src/kernel/firestore/paths.ts';
import { firebaseApp } from '../../functions/src/kernel/realtime/database.ts';
import { eventually } from '../e2e/support/waiting.ts';
import { App, call } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { idTokenOf } from './support/visitor.ts';

const registered = z.object({ credentials: z.object({ apiKey: z.string(), secret: z.string() }) });

describe('account changes in Firebase Auth', () => {
  let deployment: Deployment;
  let app: App;

  // Each test has a separate deployment, because a test advances its deployment's clock and cannot turn it back.
  beforeEach(async () => {
    deployment = await Deployment.start();
    app = await App.registered(deployment, 'Pencil');
  });
  afterEach(() => deployment?.stop());

  const sweep = () =>
    deployment.composition.services.accountSweep.sweepJob.run({
      now: deployment.now(),
      from: undefined,
      presence: Promise.resolve('trusted'),
      isOver: () => false,
    });

  /** Runs a sweep, and returns the changes that it stored for this person. Other tests change other accounts. */
  async function storedBySweep({ uid }: Someone): Promise<readonly Change[]> {
    const { store } = deployment.composition.kernel;
    const commit = store.commit.bind(store);
    const stored: Change[] = [];
    store.commit = async (changes, record) => {
      stored.push(...changes);
      return commit(changes, record);
    };
    await sweep();
    store.commit = commit;
    return stored.filter((change) => change.kind === 'limitAccount' && change.uid === uid);
  }

  /** Reads directly with the token, and returns whether Firestore and the Realtime Database accept it. */
  async function readings(idToken: string): Promise<readonly boolean[]> {
    const claims: unknown = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
    const { aud } = z.object({ aud: z.string() }).parse(claims);
    const namespace = new URL(process.env['DATABASE_URL'] ?? '').searchParams.get('ns');
    const authorization = `Bearer ${idToken}`;
    const document = `v1/projects/${aud}/databases/(default)/documents/shared/default`;
    const [inFirestore, inRealtime] = await Promise.all([
      fetch(`http://${process.env['FIRESTORE_EMULATOR_HOST']}/${document}`, { headers: { authorization } }),
      fetch(
        `http://${process.env['FIREBASE_DATABASE_EMULATOR_HOST']}/shared/default.json?ns=${namespace}&auth=${idToken}`,
      ),
    ]);
    await Promise.all([inFirestore.arrayBuffer(), inRealtime.arrayBuffer()]);
    return [inFirestore.status !== 403, inRealtime.status === 200];
  }

  /** Opens an event stream, and returns a function that reports whether the stream has ended. */
  async function stream(bearer: string, name: string): Promise<() => boolean> {
    const subscriptionId = `stream-of-${name}`;
    const watched = { subscriptionId, database: 'realtime', path: 'shared/default', eventType: 'value' };
    const { result } = await call(deployment, bearer, 'firebase.subscribe', watched);
    assert.ok(result, `${name} cannot subscribe`);
    const response = await fetch(`${deployment.mcp}/events?subscriptionId=${subscriptionId}`, {
      headers: { authorization: `Bearer ${bearer}`, accept: 'text/event-stream' },
    });
    assert.equal(response.status, 200);
    let isOver = false;
    const read = async () => {
      for await (const _ of response.body ?? []);
    };
    void read()
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
    return () => isOver;
  }

  async function settle(name: string) {
    const someone = await deployment.person(name, 'leader');
    const { access_token: access } = await app.signIn(someone);
    const { result } = await call(deployment, access, 'onboarding.registerAgent', {
      agentInfo: { name: `${name}-agent`, type: 'developer', version: '1.0.0' },
      capabilities: [{ name: 'drawing', category: 'art' }],
    });
    const { apiKey, secret } = registered.parse(result).credentials;
    const idToken = await idTokenOf(someone);
    const credentials = { person: idToken, app: access, key: `${apiKey}.${secret}` };
    const statuses = async () => {
      const all = Object.entries(credentials).map(
        async ([kind, each]) => [kind, (await call(deployment, each, 'access.whoami')).status] as const,
      );
      return Object.fromEntries(await Promise.all(all));
    };
    await sweep();
    assert.deepEqual(await statuses(), { person: 200, app: 200, key: 200 });
    assert.deepEqual(await readings(idToken), [true, true]);
    const streams = { person: await stream(credentials.person, 'person'), key: await stream(credentials.key, 'key') };
    return { someone, idToken, statuses, streams };
  }

  const changes: Readonly<Record<string, (someone: Someone) => Promise<unknown>>> = {
    disabled: ({ uid }) => getAuth(firebaseApp()).updateUser(uid, { disabled: true }),
    deleted: ({ uid }) => getAuth(firebaseApp()).deleteUser(uid),
    revoked: ({ uid }) => getAuth(firebaseApp()).revokeRefreshTokens(uid),
  };

  for (const [change, make] of Object.entries(changes))
    it(`deny a person tools and both databases if the account is ${change}`, async () => {
      const { someone, idToken, statuses, streams } = await settle(`Gone-${change}`);
      const issued = Math.floor(Date.now() / 1000);
      // Firebase Auth compares whole seconds: a token that was issued in the second of the change stays valid.
      await eventually('the next second', async () => Math.floor(Date.now() / 1000) > issued || undefined);
      await make(someone);
      await sweep();
      deployment.move(5000);
      const agents = change === 'revoked' ? 200 : 401;
      await eventually('the streams end', async () => {
        const isOver = streams.person() && (agents === 200 || streams.key());
        return isOver || undefined;
      });
      assert.equal(streams.key(), agents === 401);
      assert.deepEqual(await statuses(), { person: 401, app: agents, key: agents });
      assert.deepEqual(await readings(idToken), [false, false]);
      assert.deepEqual(await storedBySweep(someone), [], 'a second sweep stores nothing');
      if (change === 'deleted') return;
      await getAuth(firebaseApp()).updateUser(someone.uid, { disabled: false });
      await sweep();
      deployment.move(5000);
      const fresh = await idTokenOf(someone);
      assert.equal((await call(deployment, fresh, 'access.whoami')).status, 200);
      assert.deepEqual(await readings(fresh), [true, true]);
      const { person: _, ...theirs } = await statuses();
      assert.deepEqual(theirs, { app: 200, key: 200 });
      assert.deepEqual(await readings(idToken), [false, false]);
    });

  it('are not assumed for a stored person who never had an account', async () => {
    const { store } = deployment.composition.kernel;
    const { people } = deployment.composition.access.ports;
    const uid = `never-${Date.now()}`;
    await store.commit([{ kind: 'setPerson', uid, role: 'worker' }]);
    await sweep();
    assert.deepEqual(await people.find(uid), { role: 'worker', workspaces: {} }, personPath(uid));
  });
});
