import assert from 'node:assert/strict';
import {
  CachedCallerTokens,
  type CallerTokens,
  IdentityToolkitSignIn,
  TOKEN_MARGIN_MS,
} from '../../../../functions/src/access/store/idTokens.ts';
import type { Caller } from '../../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import { systemClock, systemHashing } from '../../../../functions/src/kernel/platform.ts';
import { firebaseApp } from '../../../../functions/src/kernel/realtime/database.ts';
import { FirestoreAccess } from '../../../../functions/src/toolsets/firebase/firestore/access.ts';
import {
  parsePath,
  type Watch,
  type WatchShape,
} from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { setVariable } from '../../../support/environment.ts';
import { agentCaller, personCaller } from '../callers.ts';
import { unique } from '../dataClient.ts';
import { Recorder } from './recorder.ts';
import { changeRules, restoreRules } from './rules.ts';

const minted = new CachedCallerTokens({
  agents: new IdentityToolkitSignIn({ app: firebaseApp, webApiKey: '' }),
  clock: systemClock,
});

function accessWith(tokens: CallerTokens, timeoutMilliseconds = 10_000): FirestoreAccess {
  return new FirestoreAccess({ tokens, clock: systemClock, hashing: systemHashing, timeoutMilliseconds });
}

const access = accessWith(minted);
const viewer = agentCaller('viewer');
const document = (path: string) => firestore().doc(path);

describe('a watch of Firestore', () => {
  const watches: Watch[] = [];

  function watch(
    path: string,
    shape: WatchShape,
    { caller = viewer, max: maxItems = 100, on = access }: { caller?: Caller; max?: number; on?: FirestoreAccess } = {},
  ): Recorder {
    const recorder = new Recorder();
    watches.push(on.watch(caller, parsePath('firestore', path), { shape, maxItems }, recorder));
    return recorder;
  }

  afterEach(() => {
    for (const one of watches.splice(0)) one.stop();
  });

  it('reports a document, its creation and its deletion as changes of one value', async () => {
    const path = `shared/${unique()}`;
    const recorder = watch(path, 'value');
    assert.deepEqual(await recorder.started(), {});
    const expected = [{ n: 1 }, { n: 2 }, undefined, { n: 3, at: { __timestamp__: '2026-01-01T00:00:00Z' } }];
    await document(path).set({ n: 1 });
    await recorder.atLeast(1);
    await document(path).set({ n: 2 });
    await recorder.atLeast(2);
    await document(path).delete();
    await recorder.atLeast(3);
    await document(path).set({ n: 3, at: new Date('2026-01-01T00:00:00Z') });
    assert.deepEqual(
      await recorder.atLeast(4),
      expected.map((data) => ({ key: '', data })),
    );
    assert.deepEqual(await watch(path, 'value').started(), { '': expected[3] });
    assert.deepEqual(recorder.failures, []);
  });

  it('reports a collection as one value in the format of firebase.read', async () => {
    const path = `shared/${unique()}/documents`;
    const recorder = watch(path, 'value');
    assert.deepEqual(await recorder.started(), { '': [] });
    await document(`${path}/b`).set({ n: 1 });
    await recorder.atLeast(1);
    await document(`${path}/a`).set({ id: 'own' });
    await recorder.atLeast(2);
    await document(`${path}/b`).delete();
    const own = { id: 'own', __name__: 'a' };
    assert.deepEqual(await recorder.atLeast(3), [
      { key: '', data: [{ id: 'b', n: 1 }] },
      { key: '', data: [own, { id: 'b', n: 1 }] },
      { key: '', data: [own] },
    ]);
  });

  it('reports each changed document of a collection as a separate change', async () => {
    const path = `shared/${unique()}/documents`;
    await Promise.all(['a', 'b', 'c'].map((id) => document(`${path}/${id}`).set({ id: `own ${id}` })));
    const recorder = watch(path, 'children');
    assert.deepEqual(await recorder.started(), { a: { id: 'own a' }, b: { id: 'own b' }, c: { id: 'own c' } });
    await document(`${path}/b`).set({ n: 1 });
    await recorder.atLeast(1);
    await document(`${path}/a`).delete();
    await recorder.atLeast(2);
    await document(`${path}/d`).set({});
    assert.deepEqual(await recorder.atLeast(3), [
      { key: 'b', data: { n: 1 } },
      { key: 'a', data: undefined },
      { key: 'd', data: {} },
    ]);
    assert.equal(recorder.initials.length, 1);
  });

  it('reports every document that a batch has written', async () => {
    const path = `shared/${unique()}/documents`;
    const recorder = watch(path, 'children');
    await recorder.started();
    const batch = firestore().batch();
    for (let index = 0; index < 20; index++) batch.set(document(`${path}/d${index}`), { index });
    await batch.commit();
    const changes = await recorder.atLeast(20);
    assert.deepEqual(new Set(changes.map(({ key }) => key)).size, 20);
  });

  it('fails if the collection has too many documents, at the start of the watch or later', async () => {
    const path = `shared/${unique()}/documents`;
    await document(`${path}/a`).set({});
    await document(`${path}/b`).set({});
    assert.equal((await watch(path, 'children', { max: 1 }).failure()).details.reason, 'SIZE_LIMIT_EXCEEDED');
    const recorder = watch(path, 'value', { max: 2 });
    await recorder.started();
    await document(`${path}/c`).set({});
    assert.equal((await recorder.failure()).details.reason, 'SIZE_LIMIT_EXCEEDED');
    assert.deepEqual(recorder.changes, []);
  });

  it('fails immediately if the rules deny the read', async () => {
    for (const [path, shape] of [
      ['credentials/any', 'value'],
      ['credentials', 'children'],
    ] as const) {
      const recorder = watch(path, shape);
      assert.equal((await recorder.failure()).details.reason, 'PERMISSION_DENIED');
      assert.deepEqual(recorder.initials, []);
    }
  });

  it('reports nothing after it was stopped', async () => {
    const path = `shared/${unique()}`;
    const stopped = new Recorder();
    const one = access.watch(viewer, parsePath('firestore', path), { shape: 'value', maxItems: 1 }, stopped);
    await stopped.started();
    const neverBegun = new Recorder();
    access.watch(viewer, parsePath('firestore', path), { shape: 'value', maxItems: 1 }, neverBegun).stop();
    one.stop();
    one.stop();
    const going = watch(path, 'value');
    await going.started();
    await document(path).set({ n: 1 });
    await going.atLeast(1);
    assert.deepEqual([stopped.changes, neverBegun.initials, neverBegun.failures], [[], [], []]);
  });

  it('continues with a new ID token, without lost or repeated changes', async () => {
    const path = `shared/${unique()}/documents`;
    await Promise.all(['a', 'b', 'c'].map((id) => document(`${path}/${id}`).set({ n: 0 })));
    let asked = 0;
    const shortLived: CallerTokens = {
      async of(caller) {
        asked += 1;
        // While the watch waits for a new token, documents are added, changed and deleted.
        if (asked === 2) {
          await document(`${path}/a`).set({ n: 1 });
          await document(`${path}/b`).delete();
          await document(`${path}/d`).set({ n: 1 });
        }
        const claims = { ...caller.principal, owner_uid: `owner ${asked}` };
        const token = await minted.of({ ...caller, principal: claims });
        return { ...token, expiresAt: new Date(Date.now() + TOKEN_MARGIN_MS) };
      },
    };
    const recorder = watch(path, 'children', { on: accessWith(shortLived) });
    assert.deepEqual(await recorder.started(), { a: { n: 0 }, b: { n: 0 }, c: { n: 0 } });
    assert.deepEqual(await recorder.atLeast(3), [
      { key: 'a', data: { n: 1 } },
      { key: 'd', data: { n: 1 } },
      { key: 'b', data: undefined },
    ]);
    await document(`${path}/c`).set({ n: 2 });
    assert.deepEqual((await recorder.atLeast(4)).slice(3), [{ key: 'c', data: { n: 2 } }]);
    assert.equal(recorder.initials.length, 1);
    assert.deepEqual(recorder.failures, []);
  });

  it('fails if the rules deny the read when the ID token is renewed', async () => {
    const path = `shared/${unique()}`;
    const shortLived: CallerTokens = {
      of: async (caller) => ({ ...(await minted.of(caller)), expiresAt: new Date(Date.now() + TOKEN_MARGIN_MS) }),
    };
    try {
      const recorder = watch(path, 'value', { on: accessWith(shortLived) });
      await recorder.started();
      await changeRules('match /shared/{first} {', 'match /closed/{first} {');
      assert.equal((await recorder.failure()).details.reason, 'PERMISSION_DENIED');
    } finally {
      await restoreRules();
    }
  });

  it("ends when a person's ID token expires", async () => {
    const person = await personCaller('viewer');
    const expiring: CallerTokens = { of: async (caller) => ({ ...(await minted.of(caller)), expiresAt: new Date() }) };
    const recorder = watch(`shared/${unique()}`, 'value', { caller: person, on: accessWith(expiring) });
    assert.equal((await recorder.failure()).code, 'TOKEN_EXPIRED');
  });

  it('fails if no ID token is available', async () => {
    const none: CallerTokens = { of: () => Promise.reject(new Error('a bug')) };
    const recorder = watch(`shared/${unique()}`, 'value', { on: accessWith(none) });
    assert.equal((await recorder.failure()).details.reason, 'CONNECTION_ERROR');
  });
});

describe('access to an unreachable Firestore', () => {
  const HOST = 'FIRESTORE_EMULATOR_HOST';
  const host = process.env[HOST];

  // No server listens at this address. The SDK reads the variable when it creates a client.
  before(() => {
    process.env[HOST] = '127.0.0.1:1';
  });

  after(() => setVariable(HOST, host));

  it("causes CONNECTION_ERROR earlier than the client's own timeout", async () => {
    const missing = accessWith(minted, 300);
    const path = parsePath('firestore', 'shared/any');
    const collection = parsePath('firestore', 'shared');
    const reason = async (work: Promise<unknown>): Promise<unknown> => {
      const error: unknown = await work.then(
        () => undefined,
        (one: unknown) => one,
      );
      return (error as { details?: { reason?: string } } | undefined)?.details?.reason;
    };
    const set = { operation: 'set', data: {}, merge: false, transaction: false } as const;
    const recorder = new Recorder();
    missing.watch(viewer, path, { shape: 'value', maxItems: 1 }, recorder);
    const reasons = await Promise.all([
      reason(missing.read(viewer, path, { shallow: false })),
      reason(missing.read(viewer, collection, { shallow: false })),
      reason(missing.write(viewer, path, set)),
      reason(missing.write(viewer, path, { ...set, transaction: true })),
      recorder.failure().then((error) => error.details.reason),
    ]);
    assert.deepEqual(reasons, Array(5).fill('CONNECTION_ERROR'));
  });
});
