/** Compares pages of the Realtime Database with the whole list, which the SDK orders. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Query } from 'firebase-admin/database';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { Bound, ReadQuery } from '../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { inRuns } from '../../support/properties.ts';
import { because } from './callers.ts';
import { read, stored, write } from './realtime.ts';
import { changeRules } from './realtimeRules.ts';

const key = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'Z', '_', '-', '0', '1', '2', '7', '007', '10', '-5', '2147483648', '__proto__'),
  fc.stringMatching(/^[a-z0-9_-]{1,6}$/),
);

/** There are few different values, so that many children have the same value. */
const ordered = fc.constantFrom<unknown>(null, false, true, -1.5, 0, 1, 2, 1e21, '', '1', 'a', 'b', 'é😀', { x: 1 }, [
  'list',
]);

const children = fc.dictionary(key, ordered, { minKeys: 1, maxKeys: 14 });
const bound = fc.option(fc.constantFrom<Bound>(false, true, 0, 1, 1.5, '', 'a', 'aa'), { nil: undefined });

function orderedBy(node: Query, orderBy: string): Query {
  if (orderBy === '$key') return node.orderByKey();
  return orderBy === '$value' ? node.orderByValue() : node.orderByChild(orderBy);
}

async function expectedKeys(path: string, { orderBy = '', startAt, endAt }: ReadQuery): Promise<string[]> {
  const node = (await realtimeDatabase()).ref(path);
  let query = orderedBy(node, orderBy);
  if (startAt !== undefined) query = query.startAt(startAt);
  if (endAt !== undefined) query = query.endAt(endAt);
  const keys: string[] = [];
  (await query.get()).forEach((child) => void keys.push(child.key));
  return keys;
}

async function filledAt(path: string, nodes: object): Promise<string> {
  await (await realtimeDatabase()).ref(path).set(nodes);
  return path;
}

/** In objects, JavaScript moves keys that are whole numbers to the front, and keeps all other keys in order. */
const isWholeNumber = (one: string) => /^(0|[1-9]\d*)$/.test(one) && Number(one) < 2 ** 32 - 1;

/** Reads all pages one after another, and asserts that they contain the expected keys in order. */
async function readThrough(path: string, query: ReadQuery & { limit: number }, expected: readonly string[]) {
  const rest = [...expected];
  let cursor: string | undefined;
  do {
    const page = await read(path, { ...query, cursor });
    const due = rest.splice(0, query.limit);
    const given = Object.keys(page.data as object);
    if (due.some(isWholeNumber)) assert.deepEqual(given.sort(), due.sort());
    else assert.deepEqual(given, due);
    assert.equal(page.count, due.length);
    cursor = page.nextCursor;
    assert.equal(cursor !== undefined, rest.length > 0, 'a cursor is returned only if there is more');
  } while (cursor !== undefined);
  assert.deepEqual(rest, []);
}

describe('paging in the Realtime Database', () => {
  let restore: () => Promise<void>;

  before(async () => {
    restore = await changeRules((rules) => {
      const shared = rules['shared'] as Record<string, object>;
      const $first = { ...shared['$first'], '.indexOn': ['v', 'deep/v', '.value'] };
      return { ...rules, shared: { ...shared, $first } };
    });
  });
  after(() => restore());

  async function filled(nodes: object): Promise<string> {
    return filledAt(`shared/${randomUUID()}`, nodes);
  }

  /** Values of orderBy, each with a function that creates a child that has the given value to order by. */
  const orders = [
    ['$value', (value: unknown) => value ?? 0],
    ['v', (value: unknown) => ({ v: value, other: 1 })],
    ['deep/v', (value: unknown) => ({ deep: { v: value }, other: 1 })],
  ] as const;

  for (const [orderBy, wrapped] of [['$key', (value: unknown) => value ?? 0] as const, ...orders])
    it(`returns each child once, in order, if the query orders by ${orderBy}`, async () => {
      const limits = fc.integer({ min: 1, max: 6 });
      await inRuns(40).forAllAsync(children, limits, bound, bound, async (values, limit, startAt, endAt) => {
        const nodes = Object.entries(values).map(([name, value]) => [name, wrapped(value)] as const);
        const path = await filled(Object.fromEntries(nodes));
        const bounds = orderBy === '$key' ? {} : { startAt, endAt };
        const query = { orderBy, limit, ...bounds };
        await readThrough(path, query, await expectedKeys(path, query));
      });
    });

  for (const [orderBy, wrapped] of orders)
    it(`returns equal pages with and without an index if the query orders by ${orderBy}`, async () => {
      const limits = fc.integer({ min: 1, max: 6 });
      await inRuns(20).forAllAsync(children, limits, bound, bound, async (values, limit, startAt, endAt) => {
        const nodes = Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name, wrapped(value)] as const),
        );
        const indexed = await filled(nodes);
        const path = await filledAt(`messages/${randomUUID()}`, nodes);
        const query = { orderBy, limit, startAt, endAt };
        assert.notEqual((await read(path, query)).missingIndex, undefined);
        assert.equal((await read(indexed, query)).missingIndex, undefined);
        await readThrough(path, query, await expectedKeys(indexed, query));
      });
    });

  it('orders by key if the query requests this, and also if the query has only a limit', async () => {
    const path = await filled({ a: 1, b: 2, c: 3, d: 4 });
    assert.deepEqual((await read(path, { orderBy: '$key', startAt: 'b', endAt: 'c' })).data, { b: 2, c: 3 });
    await readThrough(path, { limit: 3 }, ['a', 'b', 'c', 'd']);
  });

  it('returns 100 children per page by default', async () => {
    const many = Array.from({ length: 130 }, (_, index) => [`k${index}`, index] as const);
    const path = await filled(Object.fromEntries(many));
    const first = await read(path, {});
    assert.equal(first.count, 100);
    assert.equal((await read(path, { cursor: first.nextCursor })).count, 30);
  });

  it('continues correctly after children were added and deleted between pages', async () => {
    const path = await filled({ a: { v: 1 }, c: { v: 1 }, e: { v: 1 }, g: { v: 1 }, i: { v: 2 } });
    const query = { orderBy: 'v', limit: 2 };
    const { nextCursor: cursor } = await read(path, query);
    await write(path, { a: null, b: { v: 1 }, bb: { v: 1 }, c: null }, { operation: 'update' });
    const second = await read(path, { ...query, cursor });
    assert.deepEqual(Object.keys(second.data as object), ['e', 'g']);
    await write(path, { e: null, b: null, bb: null }, { operation: 'update' });
    const third = await read(path, { ...query, cursor: second.nextCursor });
    assert.deepEqual([third.data, third.nextCursor], [{ i: { v: 2 } }, undefined]);
  });

  it('reads more if many new children with an equal value have filled the page', async () => {
    const path = await filled({ m: { v: 1 }, n: { v: 1 }, o: { v: 1 } });
    const query = { orderBy: 'v', limit: 1 };
    const { nextCursor: cursor } = await read(path, query);
    const early = Array.from({ length: 20 }, (_, index) => [`a${index}`, { v: 1 }] as const);
    await write(path, Object.fromEntries(early), { operation: 'update' });
    assert.deepEqual((await read(path, { ...query, cursor })).data, { n: { v: 1 } });
  });

  it('cannot continue among too many equal values, unless the limit is larger', async () => {
    const many = Array.from({ length: 1102 }, (_, index) => [`k${index}`, { v: 1 }] as const);
    const path = await filled(Object.fromEntries(many));
    const { nextCursor: cursor } = await read(path, { orderBy: 'v', limit: 1000 });
    assert.ok(cursor);
    await assert.rejects(read(path, { orderBy: 'v', limit: 100, cursor }), because('VALIDATION_ERROR'));
    assert.equal((await read(path, { orderBy: 'v', limit: 200, cursor })).count, 102);
  });

  it('cannot continue after a value that is too long for a cursor', async () => {
    const path = await filled({ a: 'x'.repeat(5000), b: 'y' });
    const long = read(path, { orderBy: '$value', limit: 1 });
    await assert.rejects(long, because('VALIDATION_ERROR'));
    assert.equal((await read(path, { orderBy: '$value' })).count, 2);
  });

  it('refuses cursors that are invalid or belong to another query', async () => {
    const path = await filled({ a: { v: 1 }, b: { v: 2 } });
    const { nextCursor: cursor = '' } = await read(path, { orderBy: 'v', limit: 1 });
    const other = await filled({ a: { v: 1 }, b: { v: 2 } });
    const wrong: [string, ReadQuery][] = [
      [other, { orderBy: 'v', cursor }],
      [path, { orderBy: '$key', cursor }],
      [path, { orderBy: 'v', startAt: 1, cursor }],
      [path, { orderBy: 'v', cursor: `x${cursor}` }],
      ...['x', '{}', 'bnVsbA', 'e30', '%%%'].map((one): [string, ReadQuery] => [path, { cursor: one }]),
    ];
    for (const [at, query] of wrong) await assert.rejects(read(at, query), because('VALIDATION_ERROR'));
  });

  for (const [what, query] of [
    ['a priority', { orderBy: '$priority' }],
    ['an invalid key', { orderBy: 'a.b' }],
    ['an empty key', { orderBy: 'a//b' }],
    ['a control character', { orderBy: 'a\nb' }],
    ['a number among keys', { orderBy: '$key', startAt: 5 }],
    ['an invalid key among keys', { orderBy: '$key', endAt: 'a[0]' }],
  ] as const)
    it(`rejects ${what} in orderBy, startAt or endAt`, async () => {
      const path = await filled({ a: 1 });
      await assert.rejects(read(path, query), because('VALIDATION_ERROR'));
      assert.deepEqual(await stored(path), { a: 1 });
    });
});
