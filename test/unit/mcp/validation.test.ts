import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { argumentsChecker } from '../../../functions/src/mcp/validation.ts';

const schema = z.strictObject({
  text: z.string().max(20),
  size: z.number().optional(),
  when: z.iso.datetime().optional(),
  items: z.array(z.strictObject({ name: z.string() })).optional(),
  data: z.json().optional(),
});

const checkArguments = argumentsChecker(schema);

function refusal(raw: Record<string, unknown>): MusterError {
  try {
    checkArguments(raw);
  } catch (error) {
    assert.ok(error instanceof MusterError, String(error));
    return error;
  }
  assert.fail('it was accepted');
}

/** Objects within objects, built without recursion. */
function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { inner: value };
  return value;
}

describe('checkArguments', () => {
  it('gives back what it checked', () => {
    assert.deepEqual(checkArguments({ text: 'a', items: [{ name: 'b' }] }), {
      text: 'a',
      items: [{ name: 'b' }],
    });
  });

  it('names a missing argument', () => {
    const { code, message, details } = refusal({});
    assert.equal(code, 'REQUIRED_FIELD');
    assert.equal(message, 'Missing required argument "text".');
    assert.equal(details.field, 'text');
    assert.equal(refusal({ text: 'a', items: [{}] }).details.field, 'items.0.name');
  });

  it('names an unknown argument and those it knows', () => {
    const { code, message, details } = refusal({ text: 'a', txet: 'b' });
    assert.equal(code, 'VALIDATION_ERROR');
    assert.equal(message, 'Unknown argument "txet". Known arguments: text, size, when, items, data.');
    assert.equal(details.reason, 'UNKNOWN_ARGUMENT');
    const within = refusal({ text: 'a', items: [{ name: 'b', extra: 1 }] });
    assert.equal(within.message, 'Unknown argument "items.0.extra". Known in "items.0": name.');
  });

  it('says what was expected and shows what is short and plain', () => {
    const { message, details } = refusal({ text: 'a', size: 'big' });
    assert.equal(
      message,
      'Argument "size": expected a number, received text. Send a number without quotes, such as 5.',
    );
    assert.equal(details.value, 'big');
    assert.equal('value' in refusal({ text: 'x'.repeat(1000) }).details, false);
    assert.equal(refusal({ text: 'a', when: 'yesterday' }).code, 'INVALID_FORMAT');
  });

  it('says what a missing argument is', () => {
    const described = z.strictObject({ text: z.string().describe('What to say') });
    assert.throws(() => argumentsChecker(described)({}), /Missing required argument "text": What to say\.$/);
  });

  it('shows how a time is written', () => {
    for (const when of ['tomorrow', '2026-02-10', '2026-02-10T17:00:00', '2026-02-30T17:00:00Z', 7])
      assert.match(
        refusal({ text: 'a', when }).message,
        /^Argument "when": expected a date and a time with "Z" or an offset, as in "2026-02-10T17:00:00Z"/,
      );
  });

  it('says several things at once, but not a hundred', () => {
    const items = Array.from({ length: 100 }, () => ({ name: 5 }));
    const { message } = refusal({ text: 'a', items });
    assert.equal(message.split('items.').length - 1, 5);
    assert.match(message, /And 95 more\.$/);
  });

  for (const [what, raw, reason] of [
    ['half a surrogate pair', { text: 'a\ud800b' }, 'INVALID_TEXT'],
    ['a NUL character', { text: 'a', data: { list: ['\0'] } }, 'INVALID_TEXT'],
    ['a NUL character in a name', { text: 'a', data: { 'a\0b': 1 } }, 'INVALID_TEXT'],
    ['a number beyond range', { text: 'a', data: JSON.parse('1e999') }, 'OUT_OF_RANGE'],
    ['__proto__', JSON.parse('{"text":"a","data":{"__proto__":{"admin":true}}}'), 'INVALID_NAME'],
    ['deep nesting', { text: 'a', data: nested(40) }, 'TOO_DEEP'],
    ['very deep nesting', { text: 'a', data: nested(500_000) }, 'TOO_DEEP'],
  ] satisfies [string, Record<string, unknown>, string][]) {
    it(`refuses ${what}`, () => {
      const { code, details, message } = refusal(raw);
      assert.equal(code, 'VALIDATION_ERROR');
      assert.equal(details.reason, reason);
      assert.ok(message.length < 500);
    });
  }

  it('accepts whole surrogate pairs and large numbers', () => {
    assert.doesNotThrow(() => checkArguments({ text: '😀', size: 1e308 }));
  });

  it('walks wide arguments without running out of stack', () => {
    const wide = Array.from({ length: 40_000 }, () => 1);
    assert.doesNotThrow(() => checkArguments({ text: 'a', data: wide }));
  });

  it('accepts or refuses whatever JSON can say, in few words', () => {
    const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 6 });
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), json), json, (others, text) => {
        try {
          checkArguments({ text, ...others });
        } catch (error) {
          assert.ok(error instanceof MusterError);
          assert.ok(error.message.length < 3000);
          assert.doesNotMatch(error.message, /\p{Cs}/u);
        }
      }),
    );
  });
});

describe('checkArguments given wrapped arguments', () => {
  const check = argumentsChecker(
    z.strictObject({
      list: z
        .array(z.strictObject({ on: z.boolean().optional(), sizes: z.array(z.number()).optional() }))
        .optional(),
      object: z.strictObject({ size: z.int().default(1) }).optional(),
      numbers: z.record(z.string(), z.number()).optional(),
      either: z.union([z.string(), z.array(z.string())]).optional(),
      neither: z.union([z.number(), z.boolean()]).optional(),
      mode: z.enum(['true', 'false']).optional(),
      level: z.literal([1, 2]).optional(),
      data: z.json().optional(),
      due: z.iso.datetime().nullable().optional(),
      known: z.string().nullable().default(null),
    }),
  );
  const refusalOf = (raw: Record<string, unknown>): MusterError => {
    try {
      return assert.fail(`it was accepted: ${JSON.stringify(check(raw))}`);
    } catch (error) {
      assert.ok(error instanceof MusterError, String(error));
      return error;
    }
  };

  it('leaves out null at every level, and keeps it in free-form data', () => {
    const raw = {
      list: [{ on: null, sizes: null }],
      object: { size: null },
      numbers: { a: null, b: 1 },
      due: null,
    };
    const data = { a: null, list: [null] };
    assert.deepEqual(check({ ...raw, either: null, data, known: null }), {
      list: [{}],
      object: { size: 1 },
      numbers: { b: 1 },
      data,
      known: null,
    });
    assert.deepEqual(check({ data: null }), { known: null });
  });

  it('refuses null as an entry of a list and as an unknown argument', () => {
    assert.equal(refusalOf({ list: [null] }).details.field, 'list.0');
    assert.equal(refusalOf({ lists: null }).details.reason, 'UNKNOWN_ARGUMENT');
  });

  it('takes JSON text of the only type that the schema takes', () => {
    assert.deepEqual(
      check({ list: ' [{"on":"true","sizes":"[\\"1e3\\"]"}]\n', object: '{"size":"5"}', level: '2' }),
      {
        list: [{ on: true, sizes: [1000] }],
        object: { size: 5 },
        level: 2,
        known: null,
      },
    );
    assert.deepEqual(check({ neither: 'false' }), { neither: false, known: null });
  });

  it('leaves text as it is wherever the schema takes text', () => {
    const raw = { either: '["a"]', mode: 'true', data: '{"a":1}', known: '5' };
    assert.deepEqual(check(raw), raw);
  });

  for (const [argument, text, expected] of [
    ['list', '[{]', /^Argument "list": expected a list, .* Send a list, such as \["a", "b"\]\.$/],
    ['list', '{"a":1}', /expected a list/],
    ['list', '"[]"', /expected a list/],
    ['list', 'null', /expected a list/],
    ['object', '[]', /^Argument "object": expected an object, .* Send an object/],
    ['numbers', 'x', /expected an object/],
    ['neither', 'yes', /^Argument "neither": Invalid input/],
  ] as const)
    it(`says what to send instead of ${text} as ${argument}`, () => {
      assert.match(refusalOf({ [argument]: text }).message, expected);
    });

  it('says so of members, too', () => {
    const { message } = refusalOf({ list: [{ on: 'yes', sizes: ['five'] }], object: { size: 'x' } });
    assert.match(
      message,
      /"list\.0\.on": expected true or false, received text\. Send true or false without quotes\./,
    );
    assert.match(message, /"list\.0\.sizes\.0": expected a number/);
    assert.match(message, /"object\.size": expected a number/);
  });

  for (const [what, raw, reason] of [
    ['__proto__', { list: '[{"__proto__":{"on":true}}]' }, 'INVALID_NAME'],
    ['half a surrogate pair', { numbers: '{"\\ud800":1}' }, 'INVALID_TEXT'],
    ['a NUL character', { list: '[{"\\u0000":1}]' }, 'INVALID_TEXT'],
    ['a number beyond range', { object: '{"size":1e999}' }, 'OUT_OF_RANGE'],
    ['deep nesting', { list: '['.repeat(2_000_000) }, 'TOO_DEEP'],
    ['nesting below a nested text', { list: [{ sizes: '['.repeat(30) + ']'.repeat(30) }] }, 'TOO_DEEP'],
    ['many values', { list: `[${'1,'.repeat(60_000)}1]` }, 'TOO_MANY'],
    ['a long list', { list: `[${'{},'.repeat(1000)}{}]` }, 'TOO_MANY'],
  ] satisfies [string, Record<string, unknown>, string][])
    it(`holds JSON text to the limits of arguments: ${what}`, () => {
      const { code, details } = refusalOf(raw);
      assert.deepEqual([code, details.reason], ['VALIDATION_ERROR', reason]);
    });

  it('counts the values of all texts together', () => {
    const sizes = `[${'1,'.repeat(900)}1]`;
    const list = Array.from({ length: 60 }, () => ({ sizes }));
    assert.equal(refusalOf({ list }).details.reason, 'TOO_MANY');
    assert.equal(check({ list: list.slice(0, 50) }).list?.length, 50);
  });

  it('names the part of a leap second that it does not take', () => {
    assert.equal(check({ due: '2027-06-30T23:59:60Z' }).due, '2027-07-01T00:00:00.000Z');
    for (const due of ['2027-06-30T22:59:60Z', '2027-06-30T23:59:60+01:00', '2027-06-31T23:59:60Z'])
      assert.match(refusalOf({ due }).message, /a leap second is at 23:59:60 UTC only\.$/);
    assert.match(refusalOf({ due: '2027-06-30T23:59:61Z' }).message, /expected a date and a time/);
  });

  it('ignores what clients add, unless the schema has such an argument', () => {
    const own = argumentsChecker(z.strictObject({ action: z.string().optional() }));
    assert.deepEqual(own({ action: 'x', chatInput: 'hi\0', sessionId: null }), { action: 'x' });
    assert.throws(() => own({ action: 5 }), MusterError);
    assert.equal(refusalOf({ object: { sessionId: 's' } }).details.reason, 'UNKNOWN_ARGUMENT');
  });

  it('means the same by any JSON value and its text', () => {
    const arrays = argumentsChecker(z.strictObject({ list: z.array(z.json()) }));
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 4 })), (list) => {
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
      }),
    );
  });
});
