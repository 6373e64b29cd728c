/** Writes that are repeated with their idempotency key, after a crash before the response was stored. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import { writersCommitPath } from '../../../../functions/src/kernel/firestore/paths.ts';
import type { WriteRequest } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { agentCaller } from '../callers.ts';
import { DataClient, refusedFor, unique } from '../dataClient.ts';

describe('a repeated write to Firestore', () => {
  const data = new DataClient('firestore');
  const worker = agentCaller('worker');
  const place = () => `shared/${unique()}`;
  const keyed = (request: Partial<WriteRequest> = {}) => ({
    ...request,
    repetition: { id: randomUUID(), argumentsHash: 'hash' },
  });
  const stored = async (path: string) => (await firestore().doc(path).get()).data();

  it('applies an increment once and returns the first response', async () => {
    const path = place();
    await data.write(worker, path, { n: 1 });
    const request = keyed({ operation: 'update' });
    const first = await data.write(worker, path, { n: { __increment__: 1 } }, request);
    const second = await data.write(worker, path, { n: { __increment__: 1 } }, request);
    assert.deepEqual(second, { ...first, isRepetition: true });
    assert.deepEqual(await stored(path), { n: 2 });
  });

  it('is recognized as repeated with a simulated clock, although the rules use the real time', async () => {
    const now = () => new Date(Date.now() + 30 * 86_400_000);
    for (const database of ['firestore', 'realtime'] as const) {
      const later = new DataClient(database, { now });
      const path = place();
      await later.write(worker, path, { n: 0 });
      const request = keyed({ operation: 'update' });
      const first = await later.write(worker, path, { n: 1 }, request);
      const second = await later.write(worker, path, { n: 1 }, request);
      assert.deepEqual([first.isRepetition, second.isRepetition], [false, true], database);
      assert.deepEqual((await later.read(worker, path)).data, { n: 1 }, database);
    }
  });

  it('causes no conflict with the version that its first execution stored', async () => {
    const path = place();
    const { version } = await data.write(worker, path, { n: 1 });
    const request = keyed({ transaction: true, expectedVersion: version ?? '' });
    const first = await data.write(worker, path, { n: 2 }, request);
    const second = await data.write(worker, path, { n: 2 }, request);
    assert.deepEqual(second, { ...first, isRepetition: true });
    assert.deepEqual(await stored(path), { n: 2 });
  });

  it('does not overwrite later writes of other callers', async () => {
    const path = place();
    const request = keyed();
    await data.write(worker, path, { by: 'first' }, request);
    await data.write(worker, path, { by: 'other' });
    await data.write(worker, path, { by: 'first' }, request);
    assert.deepEqual(await stored(path), { by: 'other' });
  });

  it('does not restore a pushed document that was deleted after the first execution', async () => {
    const path = `${place()}/messages`;
    const request = keyed({ operation: 'push' });
    const { key = '' } = await data.write(worker, path, { n: 1 }, request);
    await data.write(worker, `${path}/${key}`, null, { operation: 'delete' });
    assert.equal((await data.write(worker, path, { n: 1 }, request)).key, key);
    assert.equal(await stored(`${path}/${key}`), undefined);
  });

  it('is applied once if five calls with the same key run concurrently', async () => {
    const path = place();
    await data.write(worker, path, { n: 0 });
    const request = keyed({ operation: 'update', transaction: true });
    const written = await Promise.all(
      Array.from({ length: 5 }, () => data.write(worker, path, { n: { __increment__: 1 } }, request)),
    );
    for (const outcome of written) assert.deepEqual(outcome, written[0]);
    assert.deepEqual(await stored(path), { n: 1 });
  });

  it('is refused if its arguments differ, and applied again after the key has expired', async () => {
    const path = place();
    const request = keyed();
    await data.write(worker, path, { n: 1 }, request);
    const { id } = request.repetition;
    const other = { repetition: { id, argumentsHash: 'other' } };
    await refusedFor('KEY_REUSED', data.write(worker, path, { n: 2 }, other));
    assert.deepEqual(await stored(path), { n: 1 });
    const proof = firestore().doc(writersCommitPath(worker.principal.uid, id));
    await proof.update({ expires_at: new Date(0) });
    await data.write(worker, path, { n: 2 }, other);
    assert.deepEqual(await stored(path), { n: 2 });
  });
});
