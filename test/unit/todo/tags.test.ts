import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addedTags, caseFolded, checkedTags, MAX_TAGS } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { forAll } from '../../support/properties.ts';
import { refusal } from '../../support/refusal.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, number) => `tag ${number}`);

/** The letters include some whose upper or lower case has several letters or two forms. */
const tag = fc
  .string({ unit: fc.constantFrom('a', 'A', 'ß', 'ẞ', 'σ', 'ς', 'Σ', 'İ', 'é', 'e\u0301', ' '), maxLength: 5 })
  .filter((text) => text.trim() !== '');

async function reasonOf(act: () => unknown): Promise<string> {
  const { code, details } = await refusal(act);
  return `${code} ${details.reason}`;
}

describe('tags of a to-do', () => {
  it('are trimmed, and keep their order', () =>
    assert.deepEqual(checkedTags([' work ', 'Home', '\thigh priority\n']), ['work', 'Home', 'high priority']));

  it('are unique without regard to case, and keep the spelling of the first one', () => {
    assert.deepEqual(checkedTags(['Work', 'WORK', ' work', 'Straße', 'STRASSE']), ['Work', 'Straße']);
    assert.deepEqual(checkedTags(['caf\u00e9', 'CAFE\u0301']), ['caf\u00e9']);
    assert.deepEqual(addedTags(['Work'], ['work', 'home']), ['Work', 'home']);
  });

  it('are limited to ten, and duplicate tags count towards this limit', async () => {
    assert.equal(checkedTags(numbered(MAX_TAGS)).length, MAX_TAGS);
    const refused = [
      () => checkedTags(numbered(11)),
      () => checkedTags(Array<string>(11).fill('same')),
      () => addedTags(numbered(10), ['one more']),
    ];
    for (const act of refused) assert.equal(await reasonOf(act), 'VALIDATION_ERROR MAX_TAGS_EXCEEDED');
    assert.deepEqual(addedTags(numbered(10), ['TAG 3']), numbered(10));
  });

  it('have 1 to 50 characters each', async () => {
    assert.deepEqual(checkedTags([` ${'x'.repeat(50)} `]), ['x'.repeat(50)]);
    for (const bad of ['', '  ', 'x'.repeat(51)])
      assert.equal(await reasonOf(() => checkedTags([bad])), 'VALIDATION_ERROR INVALID_TAG');
  });

  it('do not change if they are checked or added again', () => {
    const written = fc.array(tag, { maxLength: MAX_TAGS });
    forAll(written, (tags) => {
      const once = checkedTags(tags);
      assert.deepEqual(checkedTags(once), once);
      assert.deepEqual(addedTags(once, tags), once);
      assert.equal(new Set(once.map(caseFolded)).size, once.length);
      assert.deepEqual(
        once,
        tags
          .map((one) => one.trim())
          .filter((one) => once.includes(one))
          .filter(isFirst),
      );
    });
  });
});

describe('caseFolded', () => {
  it('returns one result for a text in upper case, in lower case and after an earlier conversion', () =>
    forAll(fc.oneof(tag, fc.string({ unit: 'grapheme', maxLength: 8 })), (text) => {
      const folded = caseFolded(text);
      assert.equal(caseFolded(folded), folded);
      assert.equal(caseFolded(text.toUpperCase()), folded);
      assert.equal(caseFolded(` ${text.toLowerCase()} `), folded);
    }));
});

function isFirst(one: string, at: number, all: readonly string[]): boolean {
  return all.indexOf(one) === at;
}
