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
    assert.equal(message, 'Argument "size": Invalid input: expected number, received string.');
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
