/** Checks of a message's text before the text is parsed: its limits, and the error for a text that is not JSON. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { beyondLimits, parsedJson } from '../../../functions/src/kernel/json.ts';
import { BadMessage, parseBody } from '../../../functions/src/mcp/http/body.ts';
import { forAll, inRuns } from '../../support/properties.ts';

interface Size {
  readonly values: number;
  readonly depth: number;
}

function sizeOf(value: unknown): Size {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 };
  const members = Object.values(value).map(sizeOf);
  return {
    values: members.reduce((sum, member) => sum + member.values, 1),
    depth: 1 + Math.max(0, ...members.map((member) => member.depth)),
  };
}

const excess = (json: string, max: Size) => beyondLimits(Buffer.from(json), max);
const ones = (count: number) => Array.from({ length: count }, () => '1').join(',');

describe('limits on the JSON text of a message', () => {
  it('report the first value or level of nesting beyond the limit', () => {
    const indent = fc.constantFrom(undefined, 1, '\t', ' \n');
    inRuns(500).forAll(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), indent, (value, space) => {
      const json = JSON.stringify(value, null, space);
      const size = sizeOf(JSON.parse(json));
      assert.equal(excess(json, size), undefined);
      assert.equal(excess(json, { ...size, values: size.values - 1 }), 'values');
      assert.equal(excess(json, { ...size, depth: size.depth - 1 }), 'depth');
    });
  });

  it('do not count brackets and commas within strings', () => {
    const json = JSON.stringify({ a: '[[[,,,"{\\', ',': ['\\"', '\\\\', 'é,[', '\ud83d\ude00,'] });
    assert.equal(excess(json, { values: 7, depth: 2 }), undefined);
  });

  it('never throw an error for bytes that are not JSON', () => {
    forAll(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      beyondLimits(bytes, { values: 100, depth: 10 });
    });
    for (const json of ['"without an end', '']) assert.equal(excess(json, { values: 1, depth: 0 }), undefined);
  });

  for (const [what, json, refusal] of [
    ['1,300,000 empty lists', `[${Array.from({ length: 1_300_000 }, () => '[]').join(',')}]`, /100000 values/],
    ['100,001 values in its params', `{"params":{"a":[${ones(100_000)}]}}`, /100000 values; split it/],
    ['70 nested lists', `${'['.repeat(70)}${']'.repeat(70)}`, /too deeply: the maximum is 64 levels/],
    ['99,000 values', `{"params":{"a":[${ones(99_000)}]}}`, undefined],
    ['a text of four million characters', `["${'x'.repeat(4_000_000)}"]`, undefined],
  ] as const)
    it(`${refusal ? 'refuse' : 'accept'} a message with ${what}`, () => {
      const bytes = Buffer.from(json);
      const [memory, began] = [process.memoryUsage().heapUsed, process.cpuUsage()];
      if (refusal === undefined) parseBody(bytes);
      else
        assert.throws(
          () => parseBody(bytes),
          (error) => {
            assert.ok(error instanceof BadMessage && error.code === -32600);
            assert.match(error.message, refusal);
            return true;
          },
        );
      const { user, system } = process.cpuUsage(began);
      assert.ok((user + system) / 1000 < 1500, 'the check needs too much CPU time');
      const mebibytes = (process.memoryUsage().heapUsed - memory) / 1_048_576;
      assert.ok(refusal === undefined || mebibytes < 8, `${mebibytes} MiB`);
    });
});

describe('the error for a body that is not JSON', () => {
  const refusalOf = (text: string) => {
    try {
      parseBody(Buffer.from(text));
    } catch (error) {
      assert.ok(error instanceof BadMessage && error.code === -32700);
      return error.message;
    }
    return undefined;
  };

  for (const [text, fault] of [
    ['{"a": 1\n "b": 2}', /Expected ',' or '}' after property value .*\(line 2 column 2\)/],
    ['{"a": True}', /Unexpected token 'T', "{"a": True}"/],
    ['["a\nb"]', /Bad control character in string literal .*column 4/],
    ['\u0000', /Unexpected token '\ufffd'/],
    [`[${' '.repeat(4_000_000)}x`, /^.{0,150}$/],
  ] as const)
    it(`states what is wrong with ${JSON.stringify(text.slice(0, 20))}`, () =>
      assert.match(refusalOf(text) ?? '', fault));

  it('is returned exactly for texts that are not JSON', () => {
    const put = fc.constantFrom('', '"', '{', ']', ',', ':', '\\', '0', '-', 'e');
    inRuns(1000).forAll(fc.json(), fc.nat(), put, (text, at, sign) => {
      const index = at % (text.length + 1);
      const broken = text.slice(0, index) + sign + text.slice(index + 1);
      assert.equal(refusalOf(broken) === undefined, parsedJson(broken) !== undefined, broken);
    });
  });
});
