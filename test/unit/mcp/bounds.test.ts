/** What a request may hold is bounded before a schema lists what is wrong with each part of it. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { MusterError } from '../../../functions/src/kernel/errors.ts';
import { BadMessage, parseBody } from '../../../functions/src/mcp/http/body.ts';
import { argumentsChecker } from '../../../functions/src/mcp/validation.ts';

const check = argumentsChecker(
  z.strictObject({
    tags: z.array(z.string()).optional(),
    files: z
      .array(z.strictObject({ name: z.string(), lines: z.array(z.int()).max(3) }))
      .max(10)
      .optional(),
    context: z.record(z.string().max(5), z.string()).optional(),
    data: z
      .union([z.record(z.string(), z.json()), z.array(z.json()), z.string(), z.number(), z.null()])
      .optional(),
  }),
);

const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);
const keyed = (count: number) => Object.fromEntries(times(count, 1).map((one, at) => [`key-${at}`, one]));

function refusal(raw: Record<string, unknown>): MusterError {
  try {
    check(raw);
  } catch (error) {
    assert.ok(error instanceof MusterError, String(error));
    return error;
  }
  assert.fail('it was accepted');
}

interface Cost {
  /** Processor time, not wall time. */
  readonly milliseconds: number;
  /** Memory that the work left or still held at its end. */
  readonly mebibytes: number;
}

/** Returns the least time of three runs, because the garbage collector may run during any of them. */
function costOf(work: () => unknown): Cost {
  const first = costOnce(work);
  const others = [costOnce(work), costOnce(work)].map(({ milliseconds }) => milliseconds);
  return { ...first, milliseconds: Math.min(first.milliseconds, ...others) };
}

function costOnce(work: () => unknown): Cost {
  const memory = process.memoryUsage().heapUsed;
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return {
    milliseconds: (user + system) / 1000,
    mebibytes: (process.memoryUsage().heapUsed - memory) / 1_048_576,
  };
}

describe('the bounds of arguments', () => {
  for (const [what, raw, message] of [
    [
      'an array',
      { tags: times(1_900_000, 1) },
      'Argument "tags" has 1900000 entries; at most 1000 can be taken.',
    ],
    [
      'an array with a maximum',
      { files: times(11, 1) },
      'Argument "files" has 11 entries; at most 10 can be taken.',
    ],
    [
      'an array within an array',
      { files: [{ name: 'a', lines: [1, 2, 3, 4] }] },
      'Argument "files.0.lines" has 4 entries; at most 3 can be taken.',
    ],
    [
      'an object',
      { context: keyed(10_001) },
      'Argument "context" has 10001 names; at most 10000 can be taken.',
    ],
    ['all names', keyed(10_001), 'The object of arguments has 10001 names; at most 10000 can be taken.'],
    ['all values', { data: times(50_001, 1) }, 'The arguments hold more than 50000 values.'],
    ['nested values', { data: times(2, times(25_001, 1)) }, 'The arguments hold more than 50000 values.'],
  ] satisfies [string, Record<string, unknown>, string][]) {
    it(`say what there is too much of: ${what}`, () => {
      const error = refusal(raw);
      assert.equal(error.message, message);
      assert.equal(error.code, 'VALIDATION_ERROR');
      assert.equal(error.details.reason, 'TOO_MANY');
    });
  }

  it('leave what the schema allows', () => {
    assert.doesNotThrow(() => check({ tags: times(1000, 'a'), data: times(40_000, [1].length) }));
    assert.doesNotThrow(() => check({ files: times(10, { name: 'a', lines: [1, 2, 3] }) }));
  });

  for (const [what, raw] of [
    ['two million wrong entries', { tags: times(1_900_000, 1) }],
    ['wrong entries within bounds', { tags: times(1000, 1), files: times(10, { name: 1, lines: 'x' }) }],
    ['wrong names and values', { context: keyed(10_000) }],
    ['unknown names', keyed(10_000)],
    ['nested data that is one of many kinds', { data: times(12_000, { a: [{}] }) }],
    ['data with a wrong end', { data: [...times(49_000, 1), Number.NaN] }],
  ] satisfies [string, Record<string, unknown>][]) {
    it(`keep cheap what is wrong: ${what}`, () => {
      const { milliseconds, mebibytes } = costOf(() => {
        try {
          check(raw);
        } catch (error) {
          assert.ok(error instanceof MusterError && error.message.length < 2000);
        }
      });
      assert.ok(milliseconds < 1500, `${milliseconds} ms`);
      assert.ok(mebibytes < 64, `${mebibytes} MiB`);
    });
  }
});

describe('the bounds of a message', () => {
  const body = (json: string) => () => parseBody(Buffer.from(json));
  const [empty, deep] = [`[${times(1_300_000, '[]').join(',')}]`, `${'['.repeat(70)}${']'.repeat(70)}`];

  it('are looked at before anything else is', () => {
    const tooMany = new BadMessage(
      -32600,
      'The message holds more than 100000 values: split it into several.',
    );
    assert.throws(body(empty), tooMany);
    assert.throws(body(`{"params":{"a":[${times(100_000, '1').join(',')}]}}`), tooMany);
    assert.throws(
      body(deep),
      new BadMessage(
        -32600,
        'The message nests too deeply: at most 64 arrays and objects within each other.',
      ),
    );
    assert.doesNotThrow(body(`{"params":{"a":[${times(99_000, '1').join(',')}]}}`));
  });

  it('cost little', () => {
    const { milliseconds } = costOf(() => assert.throws(body(empty)));
    assert.ok(milliseconds < 1500, `${milliseconds} ms`);
  });

  it('are reached before anything is parsed', () => {
    const { mebibytes } = costOf(() => assert.throws(body(empty)));
    assert.ok(mebibytes < 8, `${mebibytes} MiB`);
  });
});
