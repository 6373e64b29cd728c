import assert from 'node:assert/strict';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import type { JsonObject, JsonValue } from '../../../../functions/src/kernel/json.ts';
import type { ReadQuery } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { countReads, type Reads } from '../../../support/countedReads.ts';
import { agentCaller } from '../callers.ts';
import { DataClient, refusedFor, unique } from '../dataClient.ts';

const data = new DataClient('firestore');
const worker = agentCaller('worker');

/** Stores the documents in a new collection, and returns the path of the collection. */
async function collectionOf(documents: Readonly<Record<string, JsonObject>>): Promise<string> {
  const path = `shared/${unique()}/documents`;
  const writing = Object.entries(documents).map(([name, fields]) =>
    firestore()
      .doc(`${path}/${name}`)
      .set({ ...fields }),
  );
  await Promise.all(writing);
  return path;
}

function list(value: JsonValue): readonly JsonObject[] {
  assert.ok(Array.isArray(value));
  return value;
}

const ids = (value: JsonValue) => list(value).map(({ id }) => id);

/** Returns the ids of all pages of a query, one list per page. */
async function pages(path: string, query: ReadQuery): Promise<unknown[][]> {
  const found: unknown[][] = [];
  let cursor: string | undefined;
  do {
    const outcome = await data.read(worker, path, { ...query, cursor });
    found.push(ids(outcome.data));
    cursor = outcome.nextCursor;
  } while (cursor !== undefined);
  return found;
}

describe('firebase.read of Firestore', () => {
  it('returns the fields of a document, its version and the time of the read', async () => {
    const path = await collectionOf({ one: { text: 'x', nested: { list: [1, 'two', null, true] } } });
    const before = Date.now();
    const outcome = await data.read(worker, `${path}/one`, { limit: 10 });
    assert.deepEqual(outcome.data, { text: 'x', nested: { list: [1, 'two', null, true] } });
    assert.equal(outcome.count, 1);
    assert.match(outcome.version ?? '', /^\d+\.\d+$/);
    assert.ok(Math.abs(outcome.timestamp.getTime() - before) < 60_000);
    assert.equal(outcome.nextCursor, undefined);
  });

  it('returns an error for a document that does not exist', async () => {
    const { code } = await refusedFor('NOT_FOUND', data.read(worker, `shared/${unique()}`));
    assert.equal(code, 'NOT_FOUND');
  });

  it('returns the documents of a collection in the order of their ids, each with its id first', async () => {
    const path = await collectionOf({ b: { n: 1 }, a: { id: 'a', n: 2 }, c: { n: 3, id: 'own' } });
    const { data: documents, count, version } = await data.read(worker, path);
    assert.deepEqual(documents, [
      { id: 'a', n: 2 },
      { id: 'b', n: 1 },
      { id: 'own', __name__: 'c', n: 3 },
    ]);
    assert.equal(Object.keys(list(documents)[1] ?? {})[0], 'id');
    assert.equal(count, 3);
    assert.equal(version, undefined);
  });

  it('returns an empty list for an empty collection', async () => {
    const { data: documents, count } = await data.read(worker, `shared/${unique()}/nothing`);
    assert.deepEqual(documents, []);
    assert.equal(count, 0);
  });

  it('orders by a field, which can be in a map, and omits documents without that field', async () => {
    const path = await collectionOf({
      a: { at: { rank: 3 } },
      b: { at: { rank: 1 } },
      c: { at: { rank: 2 } },
      d: { other: 1 },
    });
    assert.deepEqual(ids((await data.read(worker, path, { orderBy: 'at.rank' })).data), ['b', 'c', 'a']);
    assert.deepEqual(ids((await data.read(worker, path, { orderBy: '__name__' })).data), ['a', 'b', 'c', 'd']);
  });

  it('includes documents with exactly the values of startAt and endAt', async () => {
    const path = await collectionOf({ a: { n: 1 }, b: { n: 2 }, c: { n: 2 }, d: { n: 3 }, e: { n: 4 } });
    const between = (query: ReadQuery) => data.read(worker, path, query).then((outcome) => ids(outcome.data));
    assert.deepEqual(await between({ orderBy: 'n', startAt: 2, endAt: 3 }), ['b', 'c', 'd']);
    assert.deepEqual(await between({ orderBy: 'n', startAt: 3 }), ['d', 'e']);
    assert.deepEqual(await between({ orderBy: 'n', endAt: 1 }), ['a']);
    assert.deepEqual(await between({ orderBy: '__name__', startAt: 'b', endAt: 'd' }), ['b', 'c', 'd']);
  });

  it('returns each document once across all pages, even if documents have equal values', async () => {
    const names = Array.from({ length: 11 }, (_, index) => `doc-${String(index).padStart(2, '0')}`);
    const path = await collectionOf(Object.fromEntries(names.map((name) => [name, { n: 1, half: name > 'doc-05' }])));
    for (const orderBy of [undefined, '__name__', 'n', 'half'])
      for (const limit of [1, 3, 11]) {
        const found = await pages(path, { limit, ...(orderBy !== undefined && { orderBy }) });
        assert.deepEqual(found.flat(), names, `${orderBy} by ${limit}`);
        assert.ok(found.every((page, index) => page.length === limit || index === found.length - 1));
      }
  });

  it('continues pages after values of every kind, even if the last returned document is deleted', async () => {
    const values = [null, false, true, -1, 2.5, 'text', 'text', ['list'], { map: 1 }, 'long'.repeat(1000)];
    const path = await collectionOf(Object.fromEntries(values.map((value, index) => [`d${index}`, { value }])));
    const found = await pages(path, { orderBy: 'value', limit: 1 });
    const expected = values.map((_, index) => `d${index}`);
    assert.deepEqual(found.flat().sort(), expected);
    const { nextCursor: cursor } = await data.read(worker, path, { orderBy: 'value', limit: 2 });
    await firestore().doc(`${path}/d1`).delete();
    const { data: rest } = await data.read(worker, path, { orderBy: 'value', limit: 1, cursor });
    assert.deepEqual(ids(rest), ['d2']);
  });

  it('ends a page before its size exceeds the limit', async () => {
    const text = 'x'.repeat(13_000);
    const path = await collectionOf({ a: { text }, b: { text }, c: { text }, d: { text }, e: { text } });
    assert.deepEqual(await pages(path, {}), [
      ['a', 'b', 'c'],
      ['d', 'e'],
    ]);
    // A page has at least one document, even if this is larger than a page. The tool checks the size of responses.
    const alone = await collectionOf({ a: { text: text.repeat(6) }, b: { text } });
    assert.deepEqual(await pages(alone, {}), [['a'], ['b']]);
  });

  it('orders documents with equal values by their names', async () => {
    const path = await collectionOf({ a: { kind: 'x' }, b: { kind: 'y' }, c: { kind: 'x' }, d: { kind: 'x' } });
    assert.deepEqual(await pages(path, { orderBy: 'kind', startAt: 'x', endAt: 'x', limit: 2 }), [['a', 'c'], ['d']]);
  });

  it('refuses cursors that are invalid or belong to another query', async () => {
    const path = await collectionOf({ a: { n: 1 }, b: { n: 2 } });
    const { nextCursor: cursor = '' } = await data.read(worker, path, { orderBy: 'n', limit: 1 });
    const written = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as JsonObject;
    const forged = (changes: Readonly<Record<string, unknown>>) =>
      Buffer.from(JSON.stringify({ ...written, ...changes })).toString('base64url');
    const hostile = [
      'x',
      '!!!',
      Buffer.from('[]').toString('base64url'),
      Buffer.from('['.repeat(2900)).toString('base64url'),
      forged({ name: 'a/b' }),
      forged({ name: '..' }),
      forged({ name: '' }),
      forged({ name: '__x__' }),
      forged({ value: { __reference__: '../credentials' } }),
      forged({ value: { __delete__: true } }),
      forged({ value: JSON.parse(`${'['.repeat(1000)}${']'.repeat(1000)}`) }),
      forged({ more: 1 }),
    ];
    for (const one of hostile) {
      const { details } = await refusedFor('VALIDATION_ERROR', data.read(worker, path, { orderBy: 'n', cursor: one }));
      assert.match(details.field ?? '', /^query\.cursor/);
    }
    for (const query of [{}, { orderBy: 'm' }, { orderBy: 'n', startAt: 1 }, { orderBy: 'n', endAt: 2 }])
      await refusedFor('VALIDATION_ERROR', data.read(worker, path, { ...query, cursor }));
    const other = await collectionOf({ a: { n: 1 } });
    await refusedFor('VALIDATION_ERROR', data.read(worker, other, { orderBy: 'n', cursor }));
  });

  it('refuses orders that Firestore does not support', async () => {
    const path = `shared/${unique()}/documents`;
    const hostile = ['', '.', 'a..b', '__x__', 'a.__b__', '\ud800', 'x'.repeat(1501), 'x.'.repeat(5000)];
    for (const orderBy of hostile) {
      const { details } = await refusedFor('VALIDATION_ERROR', data.read(worker, path, { orderBy }));
      assert.equal(details.field, 'query.orderBy');
    }
    for (const startAt of ['a/b', '', '__x__', 5, true])
      await refusedFor('VALIDATION_ERROR', data.read(worker, path, { orderBy: '__name__', startAt }));
    for (const orderBy of ['a b', 'ä', 'a*', '`', '[0]', '~', '\u0000', '$key', 'constructor', 'toString'])
      assert.deepEqual((await data.read(worker, path, { orderBy })).data, [], orderBy);
  });

  it('accepts the longest possible path', async () => {
    const long = Array.from({ length: 4 }, () => 'a'.repeat(1500)).join('/');
    await refusedFor('NOT_FOUND', data.read(worker, `shared/${long}/x`));
    assert.deepEqual((await data.read(worker, `shared/${long}`)).data, []);
  });

  describe('billed document reads', () => {
    let reads: Reads;

    before(() => {
      reads = countReads();
    });

    after(() => reads.stop());

    it('are at most one more than the returned documents', async () => {
      const path = await collectionOf(
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`d${index}`, { n: index }])),
      );
      const first = await data.read(worker, path, { orderBy: 'n', limit: 10 });
      assert.equal(await reads.during(() => data.read(worker, path, { orderBy: 'n', limit: 10 })), 11);
      const onwards = { orderBy: 'n', limit: 10, cursor: first.nextCursor };
      assert.equal(await reads.during(() => data.read(worker, path, onwards)), 11);
      assert.equal(await reads.during(() => data.read(worker, path)), 30);
    });
  });
});
