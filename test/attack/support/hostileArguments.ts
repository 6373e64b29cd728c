/** Hostile and unexpected arguments, generated from a tool's schema. */
import fc from 'fast-check';
import { isRecord } from '../../e2e/support/clients.ts';
import { HOSTILE_NUMBERS, hostileText, hostileValue, hugeValue, trapFor } from './hostileValues.ts';
import type { Victims } from './victims.ts';

type Schema = Readonly<Record<string, unknown>>;

/** One in 50 calls has a body of maximum size. Such a call takes as long as dozens of other calls. */
const HUGE_IN = 50;

/**
 * Generates arguments: valid except for one value, valid but unusual, huge, or unrelated to the schema.
 * @param victims ids of existing items and other valid values, by argument name
 */
export function hostileArguments(schema: Schema, victims: Victims): fc.Arbitrary<unknown> {
  const names = isRecord(schema['properties']) ? Object.keys(schema['properties']) : [];
  const other = fc.oneof(fc.constantFrom('__proto__', 'idempotency_key', ...names), hostileText);
  const extra = fc.dictionary(other, hostileValue, { maxKeys: 2, noNullPrototype: true });
  const close = plausible(schema, victims);
  const huge = fc
    .tuple(close, other, hugeValue)
    .map(([args, name, value]) => ({ ...(isRecord(args) && args), [name]: value }));
  return fc.oneof(
    { weight: HUGE_IN * 6, arbitrary: close },
    {
      weight: HUGE_IN,
      arbitrary: fc.tuple(close, extra).map(([args, more]) => (isRecord(args) ? { ...args, ...more } : args)),
    },
    { weight: HUGE_IN, arbitrary: hostileValue },
    { weight: 8, arbitrary: huge },
  );
}

/** Text that is unusual, but that a schema accepts. */
const oddText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 3, maxLength: 40 }),
  fc.constantFrom('../../etc/passwd', '__proto__', '__name__', '\u202e\u200b😀', 'a.b`c', '.'),
);

/** Generates a value that matches the schema. */
function plausible(schema: Schema, victims: Victims): fc.Arbitrary<unknown> {
  const { type, properties, items, pattern } = schema;
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if (type === 'object' && isRecord(properties)) return plausibleObject(schema, properties, victims);
  if (type === 'array' && isRecord(items))
    return fc.array(mixed(plausible(items, victims)), { minLength: 1, maxLength: 3 });
  if (type === 'object') return mixed(fc.dictionary(oddText, oddText, { maxKeys: 3, noNullPrototype: true }));
  if (type === 'number' || type === 'integer')
    return mixed(plausibleNumber(schema), fc.constantFrom(...HOSTILE_NUMBERS));
  if (type === 'boolean') return fc.boolean();
  if (typeof pattern === 'string') return mixed(matching(new RegExp(pattern), schema));
  if (type === 'string') return mixed(oddText, hostileText);
  return hostileValue;
}

function plausibleNumber({ minimum }: Schema): fc.Arbitrary<number> {
  const min = typeof minimum === 'number' ? minimum : 1;
  return fc.integer({ min, max: min + 9 });
}

function matching(pattern: RegExp, { minLength = 0, maxLength = 1000 }: Schema): fc.Arbitrary<string> {
  return fc
    .stringMatching(pattern)
    .filter((text) => text.length >= Number(minLength) && text.length <= Number(maxLength));
}

function plausibleObject(schema: Schema, properties: Schema, victims: Victims): fc.Arbitrary<unknown> {
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const values = Object.entries(properties).map(([name, property]) => {
    const right = victims[name]?.length ? [{ weight: 12, arbitrary: fc.constantFrom(...victims[name]) }] : [];
    const near = isRecord(property) ? mixed(plausible(property, victims)) : hostileValue;
    const trap = trapFor(name);
    const odd = trap === undefined ? [] : [{ weight: 1, arbitrary: trap }];
    return [name, fc.oneof(...right, ...odd, { weight: right.length > 0 ? 1 : 4, arbitrary: near })] as const;
  });
  return fc.record(Object.fromEntries(values), { requiredKeys: required, noNullPrototype: true });
}

/** Chooses the wrong value in 1 of 21 cases, because a call with a wrong argument is rejected at once. */
function mixed(right: fc.Arbitrary<unknown>, wrong: fc.Arbitrary<unknown> = hostileValue): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 20, arbitrary: right }, { weight: 1, arbitrary: wrong });
}
