import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MusterError } from '../../../../functions/src/kernel/errors.ts';
import type { JsonValue } from '../../../../functions/src/kernel/json.ts';
import {
  checkedChildren,
  checkWritable,
  isNothing,
} from '../../../../functions/src/toolsets/firebase/realtime/writable.ts';
import { parsePath } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { forAll } from '../../../support/properties.ts';

const PATH = parsePath('realtime', 'shared/thing');

const refusedAt = (field: string) => (error: unknown) => {
  assert.ok(error instanceof MusterError);
  assert.deepEqual([error.details.reason, error.details.field], ['INVALID_DATA_TYPE', field]);
  return true;
};

function nested(levels: number): JsonValue {
  return Array.from({ length: levels }).reduce<JsonValue>((inner) => ({ in: inner }), 1);
}

describe('data check before a Realtime Database write', () => {
  for (const value of [
    null,
    '',
    0,
    false,
    [],
    { a: [1, { b: null }] },
    { __proto: 1, 'é 😀': 1, 'a:b': 1 },
    { at: { '.sv': 'timestamp' }, n: { '.sv': { increment: -1.5 } } },
    { '.sv': 'timestamp' },
    nested(30),
  ] as JsonValue[])
    it(`accepts ${JSON.stringify(value).slice(0, 60)}`, () => checkWritable(PATH, value));

  for (const [value, field] of [
    [{ 'a.b': 1 }, 'data.a.b'],
    [{ list: [0, { 'x/y': 1 }] }, 'data.list.1.x/y'],
    [{ '': 1 }, 'data.'],
    [{ a: { $key: 1 } }, 'data.a.$key'],
    [{ 'a\u0000': 1 }, 'data.a\u0000'],
    [{ '#': 1 }, 'data.#'],
    [{ ['é'.repeat(400)]: 1 }, `data.${'é'.repeat(50)}…`],
    [{ '.priority': 1 }, 'data..priority'],
    [{ '.value': 1 }, 'data..value'],
    [{ a: { '.sv': 'now' } }, 'data.a..sv'],
    [{ a: { '.sv': { increment: '1' } } }, 'data.a..sv'],
    [{ a: { '.sv': { increment: 1, by: 2 } } }, 'data.a..sv'],
    [{ a: { '.sv': 'timestamp', b: 1 } }, 'data.a..sv'],
    [nested(31), `data${'.in'.repeat(31)}`],
  ] as [JsonValue, string][])
    it(`rejects ${JSON.stringify(value).slice(0, 60)} and names the field`, () =>
      assert.throws(() => checkWritable(PATH, value), refusedAt(field)));

  it('rejects values that are nested too deeply', () =>
    assert.throws(() => checkWritable(PATH, nested(5000)), refusedAt(`data${'.in'.repeat(31)}`)));

  it('requires an object of children if the operation is an update', () => {
    assert.deepEqual(checkedChildren(PATH, { a: 1, b: null }), { a: 1, b: null });
    for (const value of [null, 1, 'a', [1]]) assert.throws(() => checkedChildren(PATH, value), refusedAt('data'));
    assert.throws(() => checkedChildren(PATH, { 'a/b': 1 }), refusedAt('data.a/b'));
    assert.throws(() => checkedChildren(PATH, { '.sv': 'timestamp' }), refusedAt('data..sv'));
  });

  it('treats values without content, such as an empty object, as null', () => {
    for (const value of [null, {}, [], [null], { a: { b: [{}] } }]) assert.equal(isNothing(value), true);
    for (const value of [0, '', false, { a: [null, 0] }, { '.sv': 'timestamp' }]) assert.equal(isNothing(value), false);
  });

  it('accepts any JSON value, or rejects the value with a known error', () =>
    forAll(fc.jsonValue(), (value) => {
      try {
        checkWritable(PATH, value as JsonValue);
      } catch (error) {
        assert.ok(error instanceof MusterError);
      }
    }));
});
