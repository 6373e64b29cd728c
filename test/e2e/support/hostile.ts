/** Input that means harm, or that nobody thought of; and what every answer to it must be like. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isRecord } from './clients.ts';
import type { HttpAnswer } from './http.ts';
import type { Victims } from './victims.ts';

type Schema = Readonly<Record<string, unknown>>;

const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '../../etc/passwd',
  '..\\..\\windows',
  'a/b/c',
  '/',
  '.',
  '..',
  '__proto__',
  '__name__',
  'constructor',
  'task-1',
  'task-99999',
  '\0',
  'a\0b',
  '\u0007\u001b[31m\u202e\ufeff',
  '\ud800',
  'x\udfff',
  '😀'.repeat(50),
  '<script>alert(1)</script>',
  '$(id)',
  "'; DROP TABLE tasks; --",
  '{"$ne":null}',
  '%00%2e%2e%2f',
  'x'.repeat(1_600),
  'é'.repeat(200_001),
  'x'.repeat(1_200_000),
];

const HOSTILE_NUMBERS: readonly number[] = [
  0,
  -0,
  -1,
  0.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  2 ** 31,
  11,
  1000,
];

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
);

/** Arrays or objects within each other. */
function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(...HOSTILE_NUMBERS, true, false, null, [], {}, [[]], [null]),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.constantFrom<unknown>(
    nested(25, (inner) => [inner]),
    nested(30, (inner) => ({ a: inner })),
    nested(2000, (inner) => [inner]),
    JSON.parse('{"__proto__":{"role":"admin"},"constructor":{"prototype":{"x":1}}}'),
    Array.from({ length: 5000 }, () => 'a'),
    Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`key${n}`, n])),
  ),
);

/**
 * Arguments for a tool: some that its schema would take but for one of them, some that it takes and that are
 * odd all the same, some that have nothing to do with it.
 * @param victims values that are right where an argument has this name
 */
export function hostileArguments(schema: Schema, victims: Victims): fc.Arbitrary<unknown> {
  const extra = fc.dictionary(
    fc.oneof(fc.constantFrom('__proto__', 'idempotency_key'), hostileText),
    hostileValue,
    {
      maxKeys: 2,
      noNullPrototype: true,
    },
  );
  const close = plausible(schema, victims);
  return fc.oneof(
    { weight: 6, arbitrary: close },
    {
      weight: 1,
      arbitrary: fc.tuple(close, extra).map(([args, more]) => (isRecord(args) ? { ...args, ...more } : args)),
    },
    { weight: 1, arbitrary: hostileValue },
  );
}

/** Odd, but text that somebody might mean. */
const oddText = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 3, maxLength: 40 }),
  fc.constantFrom('../../etc/passwd', '__proto__', '__name__', '\u202e\u200b😀', 'a.b`c', '.'),
);

/** A value that looks like what the schema asks for. */
function plausible(schema: Schema, victims: Victims): fc.Arbitrary<unknown> {
  const { type, properties, items, pattern } = schema;
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if (type === 'object' && isRecord(properties)) return plausibleObject(schema, properties, victims);
  if (type === 'array' && isRecord(items)) {
    return fc.array(mixed(plausible(items, victims)), { minLength: 1, maxLength: 3 });
  }
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
    return [name, fc.oneof(...right, { weight: 1, arbitrary: near })] as const;
  });
  return fc.record(Object.fromEntries(values), { requiredKeys: required, noNullPrototype: true });
}

/** Seldom wrong: an argument that is keeps the others from being looked at. */
function mixed(
  right: fc.Arbitrary<unknown>,
  wrong: fc.Arbitrary<unknown> = hostileValue,
): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 20, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

/** What tells of our own code, machine or vendors. None of the hostile texts has any of it. */
const LEAKS: readonly RegExp[] = [
  /\n\s+at .+:\d+/,
  /node_modules|file:\/\/\/(?!etc)|\/functions\/(src|lib)|\.[tj]s:\d+/,
  /<html|<!doctype|<pre>/i,
  /firebase-admin|@google-cloud|ZodError|FirebaseError|\d+ [A-Z]+_[A-Z_]+: /,
];

/** Never a 5xx, never a page, never our insides: a result, or an error that says something. */
export function assertCivil({ status, headers, text, json }: HttpAnswer, sent: string): void {
  const about = `${sent.slice(0, 500)} → ${status} ${text.slice(0, 1000)}`;
  assert.ok(status < 500, about);
  for (const leak of LEAKS) assert.doesNotMatch(text.slice(0, 5000), leak, about);
  if (status === 202) return;
  assert.match(headers.get('content-type') ?? '', /application\/json/, about);
  const messages = Array.isArray(json) ? json : [json];
  for (const message of messages) assertMessage(message, about);
}

function assertMessage(message: unknown, about: string): void {
  assert.ok(isRecord(message), about);
  const { result, error } = message;
  if (isRecord(result)) {
    if (result['isError'] === true) assertEnvelope(result, about);
    return;
  }
  assert.ok(isRecord(error) || typeof error === 'string', about);
  const said = isRecord(error) ? error['message'] : error;
  assert.ok(typeof said === 'string' && said.length > 5 && !said.includes('Internal error'), about);
  if (isRecord(error)) assert.ok(Number.isInteger(error['code']), about);
}

function assertEnvelope({ structuredContent, content }: Schema, about: string): void {
  assert.ok(Array.isArray(content), about);
  const envelope: unknown = JSON.parse(content[0].text);
  assert.ok(isRecord(envelope), about);
  // Some errors go as text alone to clients of the 2025 revisions: see docs/decisions/0007-serving-mcp.md.
  if (structuredContent !== undefined) assert.deepEqual(structuredContent, envelope, about);
  const { error, message } = envelope;
  // The coding toolset says it beside the error.
  const said = typeof message === 'string' ? message : isRecord(error) ? error['message'] : error;
  assert.ok(typeof said === 'string' && said.length > 5 && said.length < 5000, about);
  assert.doesNotMatch(said, /Internal error/, about);
}
