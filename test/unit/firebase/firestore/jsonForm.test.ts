import assert from 'node:assert/strict';
import { Firestore, GeoPoint, Timestamp } from '@google-cloud/firestore';
import type { JsonObject, JsonValue } from '../../../../functions/src/kernel/json.ts';
import { Encoder, type Encoding } from '../../../../functions/src/toolsets/firebase/firestore/fromJson.ts';
import { fieldsToJson, toJson } from '../../../../functions/src/toolsets/firebase/firestore/values.ts';
import { forAll } from '../../../support/properties.ts';
import { thrownRefusal } from '../../../support/refusal.ts';
import { fieldsInJson } from './jsonForm.ts';

const client = new Firestore({ projectId: 'demo-muster' });

function encode(data: JsonValue, encoding: Partial<Encoding> = {}): Readonly<Record<string, unknown>> {
  return new Encoder({ client, deletes: 'nowhere', transforms: true, ...encoding }).document(data);
}

const refusal = (data: JsonValue, encoding: Partial<Encoding> = {}) => thrownRefusal(() => encode(data, encoding));

/** Returns the value as a client with useBigInt reads it: each stored whole number becomes a bigint. */
function asRead(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(asRead);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asRead(one)]));
}

const nested = (depth: number, leaf: JsonValue): JsonValue => (depth === 0 ? leaf : { m: nested(depth - 1, leaf) });

describe('JSON form of Firestore data', () => {
  it('keeps every value in a round trip', () =>
    forAll(fieldsInJson, (fields) => {
      const read = asRead(encode(fields)) as Record<string, unknown>;
      assert.deepEqual(fieldsToJson(read), fields);
    }));

  it('is the form that docs/guides/data.md describes', () => {
    const fields: JsonObject = {
      timestamp: { __timestamp__: '2026-11-22T01:02:03.123456789Z' },
      point: { __geopoint__: { latitude: 48.2, longitude: 16.4 } },
      reference: { __reference__: 'agents/agent-001' },
      bytes: { __bytes__: 'aGVsbG8=' },
      integer: { __integer__: '9007199254740993' },
      double: { __double__: 'NaN' },
      vector: { __vector__: [0.1, 0.2] },
    };
    const encoded = encode(fields);
    assert.ok(new Timestamp(1795309323, 123456789).isEqual(encoded['timestamp'] as Timestamp));
    assert.ok(new GeoPoint(48.2, 16.4).isEqual(encoded['point'] as GeoPoint));
    assert.ok(client.doc('agents/agent-001').isEqual(encoded['reference'] as ReturnType<typeof client.doc>));
    assert.equal(String(encoded['bytes']), 'hello');
    assert.equal(encoded['integer'], 9007199254740993n);
    assert.deepEqual(fieldsToJson(encoded), fields);
  });

  it('marks exactly those integers that a JSON number would round', () => {
    assert.equal(toJson(9007199254740991n), 9007199254740991);
    assert.deepEqual(toJson(9007199254740992n), { __integer__: '9007199254740992' });
    assert.equal(toJson(1e300), 1e300);
    assert.deepEqual(toJson(-0), { __double__: '-0' });
  });

  it('is refused for values of an unsupported type, with the name of the type', () => {
    class Novelty {}
    assert.deepEqual(toJson(new Novelty()), { __unsupported__: 'Novelty' });
    assert.equal(refusal({ a: { __unsupported__: 'Novelty' } }).details.field, 'data.a');
  });

  it('is refused for values that Firestore cannot store, with the name of the field', () => {
    const cases: [JsonObject, string][] = [
      [{ a: { b: [1, [2]] } }, 'data.a.b.1'],
      [{ a: [{ __vector__: [1] }] }, 'data.a.0'],
      [{ a: [{ b: { __serverTimestamp__: true } }] }, 'data.a.0.b'],
      [{ a: { __arrayUnion__: [{ b: { __increment__: 1 } }] } }, 'data.a.0.b'],
      [{ a: { __arrayUnion__: [[1]] } }, 'data.a.0'],
      [{ a: { '': 1 } }, 'data.a.'],
      [{ a: { __type__: 1 } }, 'data.a'],
      [{ a: { __type__: 1, b: 2 } }, 'data.a.__type__'],
      [{ a: { __timestamp__: '2026-01-01T00:00:00Z', b: 1 } }, 'data.a.__timestamp__'],
      [{ __timestamp__: '2026-01-01T00:00:00Z' }, 'data.__timestamp__'],
      [JSON.parse('{"a": {"__proto__": 1}}'), 'data.a'],
      [{ a: 'x\ud800y' }, 'data.a'],
      [{ 'a\udc00': 1 }, 'data.a\udc00'],
      [{ a: JSON.parse('1e999') }, 'data.a'],
      [{ a: { __increment__: JSON.parse('1e999') } }, 'data.a'],
    ];
    for (const [data, field] of cases) {
      const { details } = refusal(data);
      assert.equal(details.reason, 'INVALID_DATA_TYPE');
      assert.equal(details.field, field);
    }
    assert.equal(refusal({ ['x'.repeat(1501)]: 1 }).details.reason, 'INVALID_DATA_TYPE');
  });

  it('is refused if a special value is malformed', () => {
    const malformed: Readonly<Record<string, readonly JsonValue[]>> = {
      __timestamp__: [
        '2026-02-30T00:00:00Z',
        '2026-13-01T00:00:00Z',
        '0000-01-01T00:00:00Z',
        '2026-01-01T24:00:00Z',
        '2026-01-01T23:59:60Z',
        '2026-01-01T00:00:00+01:00',
        '2026-01-01T00:00:00.1234567890Z',
        '2026-01-01',
        'now',
        0,
        null,
        {},
      ],
      __geopoint__: [
        { latitude: 91, longitude: 0 },
        { latitude: 0 },
        { latitude: 0, longitude: 0, z: 0 },
        [0, 0],
        null,
      ],
      __reference__: ['agents', '../x', 'a//b', '/a/b', 'a/__b__', 'projects/p/databases/d/documents/a/b/', 7, null],
      __bytes__: ['aGVsbG8', 'aGVs bG8=', '_-8=', '=', 1, null],
      __double__: ['1', 'nan', 'toString', '__proto__', 1, null],
      __integer__: ['9223372036854775808', '-9223372036854775809', '1.5', '', '0x10', 1, null],
      __vector__: [
        [],
        ['1'],
        [null],
        { 0: 1 },
        Array(2049).fill(1),
        [{ __double__: '1' }],
        [{ __double__: 'NaN' }],
        null,
      ],
      __serverTimestamp__: [false, 'true', null],
      __increment__: ['1', null, {}],
      __delete__: [false, null],
      __arrayUnion__: [[], 'a', null],
      __arrayRemove__: [[], 'a', null, Array(10_001).fill(1)],
    };
    for (const [kind, contents] of Object.entries(malformed))
      for (const content of contents) {
        const { details, message } = refusal({ a: { [kind]: content } }, { deletes: 'anywhere' });
        assert.equal(details.reason, 'INVALID_DATA_TYPE');
        assert.equal(details.field, 'data.a');
        assert.ok(message.startsWith(kind), message);
      }
  });

  it('may be nested as deeply as Firestore allows', () => {
    encode({ a: nested(20, 'leaf') });
    assert.match(refusal({ a: nested(21, 'leaf') }).message, /at most 20 levels/);
    const lists = `${'{"l":['.repeat(50_000)}1${']}'.repeat(50_000)}`;
    assert.match(refusal({ a: JSON.parse(lists) }).message, /at most 20 levels/);
  });

  it('may contain __delete__ only in operations that support deleting a field', () => {
    const top = { a: { __delete__: true } };
    const within = { a: { b: { __delete__: true }, c: 1 } };
    refusal(top);
    refusal(within, { deletes: 'top' });
    assert.ok('a' in encode(top, { deletes: 'top' }));
    assert.ok('a' in encode(within, { deletes: 'anywhere' }));
    assert.deepEqual(encode(top, { deletes: 'dropped' }), {});
    assert.deepEqual(encode(within, { deletes: 'dropped' }), { a: { c: 1 } });
  });

  it('may contain a transform only in operations that support transforms', () => {
    for (const kind of ['__serverTimestamp__', '__increment__', '__delete__', '__arrayUnion__', '__arrayRemove__'])
      assert.match(refusal({ a: { [kind]: true } }, { transforms: false }).message, /is not allowed here/);
  });
});
