/** Arguments that the check rejects, with their errors, and arguments that it accepts, with the parsed values. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { argumentsChecker } from '../../../functions/src/mcp/validation.ts';
import { forAll } from '../../support/properties.ts';
import { thrownRefusal } from '../../support/refusal.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Only the argument `text` is required. */
const check = argumentsChecker(
  z.strictObject({
    text: z.string().max(20).describe('What to say'),
    size: z.number().optional(),
    when: z.iso.datetime({ offset: true }).nullable().optional(),
    items: z.array(z.strictObject({ name: z.string() })).optional(),
    tags: z.array(z.string()).optional(),
    files: z
      .array(z.strictObject({ name: z.string(), lines: z.array(z.int()).max(3) }))
      .max(10)
      .optional(),
    context: z.record(z.string().max(5), z.string()).optional(),
    list: z.array(z.strictObject({ on: z.boolean().optional(), sizes: z.array(z.number()).optional() })).optional(),
    object: z.strictObject({ size: z.int().default(1) }).optional(),
    numbers: z.record(z.string(), z.number()).optional(),
    either: z.union([z.string(), z.array(z.string())]).optional(),
    neither: z.union([z.number(), z.boolean()]).optional(),
    mode: z.enum(['true', 'false']).optional(),
    level: z.literal([1, 2]).optional(),
    known: z.string().nullable().optional(),
    data: z.union([z.record(z.string(), z.json()), z.array(z.json()), z.string(), z.number(), z.null()]).optional(),
  }),
);

/** Upper limits of time, memory and message length for one rejection. */
const MOST = { milliseconds: 1500, mebibytes: 64, characters: 2000 };

/** Returns the cost of a rejection: the minimum of three runs, because garbage collection may slow a run down. */
function costOf(work: () => unknown) {
  const costs = [1, 2, 3].map(() => {
    const memory = process.memoryUsage().heapUsed;
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return { milliseconds: (user + system) / 1000, mebibytes: (process.memoryUsage().heapUsed - memory) / 1_048_576 };
  });
  return {
    milliseconds: Math.min(...costs.map(({ milliseconds }) => milliseconds)),
    mebibytes: costs[0]?.mebibytes ?? 0,
  };
}

const refusal = (raw: Raw): MusterError => thrownRefusal(() => check(raw));

/** Returns objects nested to this depth, built without recursion. */
function nested(levels: number): Raw {
  let value: Raw = {};
  for (let level = 1; level < levels; level += 1) value = { inner: value };
  return value;
}

const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);
const keyed = (count: number) => Object.fromEntries(times(count, 1).map((one, at) => [`key-${at}`, one]));

interface Refused {
  readonly code?: string;
  readonly reason?: string;
  readonly field?: string;
  readonly value?: unknown;
  readonly message?: string | RegExp;
}

const TIME = /^Argument "when": expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z"/;
const LEAP = /a leap second can only be at 23:59:60 UTC\.$/;
const noTime = (message: RegExp): Refused => ({ code: 'INVALID_FORMAT', message });
const tooMany = (message: string | RegExp): Refused => ({ reason: 'TOO_MANY', message });

/** In every case except the first, the arguments also contain a valid value of `text`. */
const REFUSED: readonly (readonly [what: string, raw: Raw, Refused])[] = [
  [
    'a missing argument',
    {},
    { code: 'REQUIRED_FIELD', field: 'text', message: 'Missing required argument "text": What to say.' },
  ],
  ['a missing member', { items: [{}] }, { code: 'REQUIRED_FIELD', field: 'items.0.name' }],
  [
    'an unknown argument',
    { txet: 'b' },
    { reason: 'UNKNOWN_ARGUMENT', message: /^Unknown argument "txet"\. Known arguments: text, size, when, items, / },
  ],
  [
    'an unknown member',
    { items: [{ name: 'b', extra: 1 }] },
    { message: 'Unknown argument "items.0.extra". Known fields of "items.0": name.' },
  ],
  ['an unknown argument that is null', { lists: null }, { reason: 'UNKNOWN_ARGUMENT' }],
  [
    'an argument that clients add, below the top level',
    { object: { sessionId: 's' } },
    { reason: 'UNKNOWN_ARGUMENT', field: 'object.sessionId' },
  ],
  [
    'a short value of another type, which the error quotes',
    { size: 'big' },
    {
      message: 'Argument "size": expected a number, received text. Send a number without quotes, such as 5.',
      value: 'big',
    },
  ],
  ['a long text, which is not quoted', { text: 'x'.repeat(1000) }, { field: 'text', value: undefined }],
  ['a null entry', { list: [null] }, { field: 'list.0' }],
  [
    'a null as a required member',
    { items: [{ name: null }] },
    { message: /^Argument "items\.0\.name": .*received null/ },
  ],
  [
    'many faults, of which the error lists five',
    { items: times(100, { name: 5 }) },
    { message: /^(?:.*?items\.){5}(?!.*items\.).*And 95 more\.$/s },
  ],
  ['a word as a time', { when: 'tomorrow' }, noTime(TIME)],
  ['a day as a time', { when: '2026-02-10' }, noTime(TIME)],
  ['a time without a zone', { when: '2026-02-10T17:00:00' }, noTime(TIME)],
  ['a date that does not exist', { when: '2026-02-30T17:00:00Z' }, noTime(TIME)],
  ['a number as a time', { when: 7 }, { message: TIME }],
  ['a second 61', { when: '2027-06-30T23:59:61Z' }, noTime(TIME)],
  ['a leap second at another minute', { when: '2027-06-30T22:59:60Z' }, noTime(LEAP)],
  ['a leap second of another zone', { when: '2027-06-30T23:59:60+01:00' }, noTime(LEAP)],
  ['a leap second on a date that does not exist', { when: '2027-06-31T23:59:60Z' }, noTime(LEAP)],

  ['a lone surrogate', { text: 'a\ud800b' }, { reason: 'INVALID_TEXT' }],
  ['a NUL character', { data: { list: ['\0'] } }, { reason: 'INVALID_TEXT' }],
  ['a NUL character in a name', { data: { 'a\0b': 1 } }, { reason: 'INVALID_TEXT' }],
  ['a number beyond range', { data: JSON.parse('1e999') }, { reason: 'OUT_OF_RANGE' }],
  ['__proto__', JSON.parse('{"data":{"__proto__":{"admin":true}}}'), { reason: 'INVALID_NAME' }],
  ['deep nesting', { data: nested(40) }, { reason: 'TOO_DEEP' }],
  ['very deep nesting', { data: nested(500_000) }, { reason: 'TOO_DEEP' }],

  [
    'a list of two million entries',
    { tags: times(1_900_000, 1) },
    tooMany('Argument "tags" has 1900000 entries; the maximum is 1000.'),
  ],
  [
    'a list that is longer than its maximum',
    { files: times(11, 1) },
    tooMany('Argument "files" has 11 entries; the maximum is 10.'),
  ],
  [
    'a list within a list that is longer than its maximum',
    { files: [{ name: 'a', lines: [1, 2, 3, 4] }] },
    tooMany('Argument "files.0.lines" has 4 entries; the maximum is 3.'),
  ],
  [
    'too many names in an object',
    { context: keyed(10_001) },
    tooMany('Argument "context" has 10001 names; the maximum is 10000.'),
  ],
  [
    'too many names of arguments',
    keyed(10_001),
    tooMany(/^The arguments object has 1000\d names; the maximum is 10000\.$/),
  ],
  ['too many values', { data: times(50_001, 1) }, tooMany('The arguments contain more than 50000 values.')],
  ['too many nested values', { data: times(2, times(25_001, 1)) }, tooMany(/50000 values/)],
  ['a thousand wrong entries', { tags: times(1000, 1), files: times(10, { name: 1, lines: 'x' }) }, {}],
  ['ten thousand wrong names', { context: keyed(9_990) }, {}],
  ['ten thousand unknown names', keyed(9_990), {}],
  ['large data with an invalid last value', { data: [...times(12_000, { a: [{}] }), Number.NaN] }, {}],

  [
    'text that is not a list',
    { list: '[{]' },
    { message: /^Argument "list": expected a list, .* Send a list, such as \["a", "b"\]\.$/ },
  ],
  ["an object's JSON text as a list", { list: '{"a":1}' }, { message: /expected a list/ }],
  ["a text's JSON text as a list", { list: '"[]"' }, { message: /expected a list/ }],
  ['the word null as a list', { list: 'null' }, { message: /expected a list/ }],
  [
    "a list's JSON text as an object",
    { object: '[]' },
    { message: /^Argument "object": expected an object, .* Send an object/ },
  ],
  ['a word as an object', { numbers: 'x' }, { message: /expected an object/ }],
  ['a word as one of two types', { neither: 'yes' }, { message: /^Argument "neither": Invalid input/ }],
  [
    'a word as a boolean member',
    { list: [{ on: 'yes' }] },
    { message: /"list\.0\.on": expected true or false, received text\. Send true or false without quotes\./ },
  ],
  [
    'a word as a number in a nested list',
    { list: [{ sizes: ['five'] }] },
    { message: /"list\.0\.sizes\.0": expected a number/ },
  ],
  ['__proto__ in a JSON text', { list: '[{"__proto__":{"on":true}}]' }, { reason: 'INVALID_NAME' }],
  ['a lone surrogate in a JSON text', { numbers: '{"\\ud800":1}' }, { reason: 'INVALID_TEXT' }],
  ['a NUL character in a JSON text', { list: '[{"\\u0000":1}]' }, { reason: 'INVALID_TEXT' }],
  ['a number beyond range in a JSON text', { object: '{"size":1e999}' }, { reason: 'OUT_OF_RANGE' }],
  ['deep nesting in a JSON text', { list: '['.repeat(2_000_000) }, { reason: 'TOO_DEEP' }],
  [
    'deep nesting in a nested JSON text',
    { list: [{ sizes: '['.repeat(30) + ']'.repeat(30) }] },
    { reason: 'TOO_DEEP' },
  ],
  ['many values in a JSON text', { list: `[${'1,'.repeat(60_000)}1]` }, { reason: 'TOO_MANY' }],
  ['a long list in a JSON text', { list: `[${'{},'.repeat(1000)}{}]` }, { reason: 'TOO_MANY' }],
  [
    'JSON texts with too many values in total',
    { list: times(60, { sizes: `[${'1,'.repeat(900)}1]` }) },
    { reason: 'TOO_MANY' },
  ],
];

/** The last element is the expected result; undefined means that the arguments stay unchanged. */
const TAKEN: readonly (readonly [what: string, raw: Raw, taken?: Raw])[] = [
  ['valid arguments unchanged', { items: [{ name: 'b' }] }],
  ['whole surrogate pairs and large numbers', { text: '😀', size: 1e308 }],
  ['the maximum number of values', { tags: times(1000, 'a'), data: times(40_000, 1) }],
  ['lists of the maximum length', { files: times(10, { name: 'a', lines: [1, 2, 3] }) }],
  ['a null at any level as an omitted value', { list: [{ on: null, sizes: null }] }, { list: [{}] }],
  ['a null as the default', { object: { size: null } }, { object: { size: 1 } }],
  [
    'a null in a record and as an argument as omitted',
    { numbers: { a: null, b: 1 }, when: null },
    { numbers: { b: 1 } },
  ],
  ['a null in free-form data as null', { data: { a: null, list: [null] } }],
  [
    "the JSON text of the schema's only type as that type",
    { list: ' [{"on":"true","sizes":"[\\"1e3\\"]"}]\n', object: '{"size":"5"}', level: '2' },
    { list: [{ on: true, sizes: [1000] }], object: { size: 5 }, level: 2 },
  ],
  ['the JSON text of one of two types as that type', { neither: 'false' }, { neither: false }],
  ['text as text if the schema allows text', { either: '["a"]', mode: 'true', data: '{"a":1}', known: '5' }],
  ['a leap second as the next second', { when: '2027-06-30T23:59:60Z' }, { when: '2027-07-01T00:00:00.000Z' }],
  ['arguments without those that clients add', { chatInput: 'hi\0', sessionId: null }, {}],
];

function assertSays(error: MusterError, { code = 'VALIDATION_ERROR', message = /\.$/, ...details }: Refused): void {
  assert.equal(error.code, code);
  if (typeof message === 'string') assert.equal(error.message, message);
  else assert.match(error.message, message);
  for (const name of ['reason', 'field', 'value'] as const)
    if (name in details) assert.equal(error.details[name], details[name], name);
  assert.ok(error.message.length < MOST.characters);
}

describe("check of a call's arguments", () => {
  for (const [what, raw, refused] of REFUSED)
    it(`needs little time and memory to reject ${what}`, () => {
      const sent = what === 'a missing argument' ? raw : { text: 'a', ...raw };
      assertSays(refusal(sent), refused);
      const { milliseconds, mebibytes } = costOf(() => refusal(sent));
      assert.ok(milliseconds < MOST.milliseconds, `${milliseconds} ms of CPU time`);
      assert.ok(mebibytes < MOST.mebibytes, `${mebibytes} MiB`);
    });

  for (const [what, raw, taken = raw] of TAKEN)
    it(`accepts ${what}`, () => assert.deepEqual(check({ text: 'a', ...raw }), { text: 'a', ...taken }));

  it('keeps an argument of the kind that clients add to every call, if the tool defines it', () => {
    const own = argumentsChecker(z.strictObject({ action: z.string().optional() }));
    assert.deepEqual(own({ action: 'x', chatInput: 'hi\0', sessionId: null }), { action: 'x' });
    assert.throws(() => own({ action: 5 }), MusterError);
  });

  it('treats a JSON value and the JSON text of that value in the same way', () => {
    const arrays = argumentsChecker(z.strictObject({ list: z.array(z.json()) }));
    forAll(fc.array(fc.jsonValue({ maxDepth: 4 })), (list) => {
      const outcome = (value: unknown) => {
        try {
          return arrays({ list: value });
        } catch (error) {
          assert.ok(error instanceof MusterError);
          return error.message;
        }
      };
      const sent = JSON.stringify(list);
      assert.deepEqual(outcome(sent), outcome(JSON.parse(sent)));
    });
  });
});
