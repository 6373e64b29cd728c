/** Generates arbitrary documents in the JSON form that docs/guides/data.md describes. */
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../../functions/src/kernel/json.ts';

/** Text without lone surrogates, because Firestore stores UTF-8. */
const text = fc.string({ unit: 'binary', maxLength: 20 });
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0));

/** Firestore stores whole JSON numbers as integers and all other numbers as doubles. */
const number = fc.oneof(double, fc.maxSafeInteger());
const specialDouble = fc.constantFrom('NaN', 'Infinity', '-Infinity', '-0').map((one) => ({ __double__: one }));

const largeInteger = fc
  .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  .filter((value) => !Number.isSafeInteger(Number(value)))
  .map((value) => ({ __integer__: String(value) }));

/** Time with microseconds, the precision of Firestore. */
const timestamp = fc
  .tuple(
    fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
    fc.nat(999_999),
  )
  .map(([date, microseconds]) => {
    const fraction = String(microseconds).padStart(6, '0').replace(/0+$/, '');
    return { __timestamp__: `${date.toISOString().slice(0, 19)}${fraction && `.${fraction}`}Z` };
  });

const positiveZero = (value: number): number => (value === 0 ? 0 : value);

const geopoint = fc
  .record(
    {
      latitude: fc.double({ min: -90, max: 90, noNaN: true }).map(positiveZero),
      longitude: fc.double({ min: -180, max: 180, noNaN: true }).map(positiveZero),
    },
    { noNullPrototype: true },
  )
  .map((point) => ({ __geopoint__: point }));

const segment = fc.stringMatching(/^[a-zA-Z0-9-][a-zA-Z0-9_-]{0,10}$/);

const reference = fc
  .array(fc.tuple(segment, segment), { minLength: 1, maxLength: 3 })
  .map((pairs) => ({ __reference__: pairs.flat().join('/') }));

const bytes = fc.uint8Array({ maxLength: 20 }).map((array) => ({ __bytes__: Buffer.from(array).toString('base64') }));

const component = fc.oneof(
  double,
  specialDouble.filter(({ __double__ }) => __double__ !== 'NaN'),
);

const vector = fc.array(component, { minLength: 1, maxLength: 5 }).map((numbers) => ({ __vector__: numbers }));

const inLists = fc.oneof(
  { weight: 3, arbitrary: fc.oneof(fc.constant(null), fc.boolean(), number, text) },
  { weight: 2, arbitrary: fc.oneof(specialDouble, largeInteger, timestamp, geopoint, reference, bytes) },
);

const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 10 }).filter((one) => !/^__.*__$/s.test(one));

function mapOf(value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  return fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true });
}

const { value } = fc.letrec<{ value: JsonValue; element: JsonValue; map: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, inLists, vector, tie('map'), fc.array(tie('element'), { maxLength: 4 })),
  element: fc.oneof({ maxDepth: 4 }, inLists, tie('map')),
  map: mapOf(tie('value')),
}));

export const fieldsInJson: fc.Arbitrary<JsonObject> = mapOf(value);
