import assert from 'node:assert/strict';
import fc from 'fast-check';
import { caseFolded, checkedTags, MAX_TAGS } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { tagSetKey, tagSetKeys } from '../../../functions/src/toolsets/todo/store/todoDocument.ts';
import { forAll } from '../../support/properties.ts';

const tag = fc.string({ unit: fc.constantFrom('a', 'A', 'b', ',', '"', 'é'), minLength: 1, maxLength: 2 });
const tags = fc.array(tag, { maxLength: MAX_TAGS }).map((written) => checkedTags(written));

describe('indexed tag sets of a to-do', () => {
  it('contain the key of a filter if the to-do has all tags of the filter, in any order and case', () =>
    forAll(tags, fc.array(tag, { minLength: 1, maxLength: 4 }), (own, filter) => {
      const folded = new Set(own.map(caseFolded));
      const hasAll = filter.every((one) => folded.has(caseFolded(one)));
      assert.equal(tagSetKeys(own).includes(tagSetKey(filter)), hasAll);
    }));

  it("contain the key of every subset of the to-do's tags", () =>
    forAll(
      tags
        .filter(({ length }) => length > 0)
        .chain((own) => fc.tuple(fc.constant(own), fc.shuffledSubarray([...own], { minLength: 1 }))),
      ([own, some]) => {
        const filter = some.map((one, at) => (at % 2 === 0 ? one.toUpperCase() : one));
        assert.ok(tagSetKeys(own).includes(tagSetKey(filter)));
      },
    ));

  it('contain no key twice, so that ten tags have 1,023 keys', () => {
    forAll(tags, (own) => {
      const keys = tagSetKeys(own);
      assert.equal(keys.length, 2 ** own.length - 1);
      assert.equal(new Set(keys).size, keys.length);
    });
    assert.equal(tagSetKeys('abcdefghij'.split('')).length, 1023);
    assert.deepEqual(tagSetKeys([]), []);
  });
});
