import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isWrappedJson } from '../../../functions/src/kernel/json.ts';
import { forAll } from '../../support/properties.ts';

describe('isWrappedJson', () => {
  it('returns true for the JSON text of every object and every array', () => {
    const holder = fc.oneof(fc.object(), fc.array(fc.jsonValue({ maxDepth: 3 })));
    forAll(holder, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      assert.equal(isWrappedJson(`${space}${JSON.stringify(value)}${space}`), true);
      assert.equal(isWrappedJson(value), false);
    });
  });

  for (const text of ['', 'text', '5', 'null', 'true', '"[]"', '[', '{a: 1}', '[draft] a title', '{', '[1] and more'])
    it(`returns false for ${JSON.stringify(text)}`, () => assert.equal(isWrappedJson(text), false));

  it('returns quickly for a long text', () => {
    const began = process.cpuUsage();
    assert.equal(isWrappedJson('['.repeat(4_000_000)), false);
    assert.equal(isWrappedJson(`[${'1,'.repeat(2_000_000)}1]`), false);
    const { user, system } = process.cpuUsage(began);
    assert.ok((user + system) / 1000 < 1000, 'more than a second of CPU time');
  });
});
