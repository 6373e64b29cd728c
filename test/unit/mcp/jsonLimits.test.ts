/** What is counted in a JSON text before it is parsed, against what it turns out to hold. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { beyondLimits } from '../../../functions/src/kernel/json.ts';

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

const excess = (json: string, most: Size) => beyondLimits(Buffer.from(json), most);

describe('the excess of a JSON text', () => {
  it('is told at the very value and level', () => {
    const indent = fc.constantFrom(undefined, 1, '\t', ' \n');
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), indent, (value, space) => {
        const json = JSON.stringify(value, null, space);
        const size = sizeOf(JSON.parse(json));
        assert.equal(excess(json, size), undefined);
        assert.equal(excess(json, { ...size, values: size.values - 1 }), 'values');
        assert.equal(excess(json, { ...size, depth: size.depth - 1 }), 'depth');
      }),
      { numRuns: 500 },
    );
  });

  it('is not made of what stands in strings', () => {
    const json = JSON.stringify({ a: '[[[,,,"{\\', ',': ['\\"', '\\\\', 'é,[', '\ud83d\ude00,'] });
    assert.equal(excess(json, { values: 7, depth: 2 }), undefined);
  });

  it('is told of what is no JSON without a throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        beyondLimits(bytes, { values: 100, depth: 10 });
      }),
    );
    assert.equal(excess('"without an end', { values: 1, depth: 0 }), undefined);
    assert.equal(excess('', { values: 1, depth: 0 }), undefined);
  });

  it('costs little', () => {
    const large = Buffer.from(`["${'x'.repeat(4_000_000)}"]`);
    const began = process.cpuUsage();
    assert.equal(beyondLimits(large, { values: 2, depth: 1 }), undefined);
    const { user, system } = process.cpuUsage(began);
    assert.ok((user + system) / 1000 < 1000, 'a second of the processor');
  });
});
