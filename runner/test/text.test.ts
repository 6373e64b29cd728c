import assert from 'node:assert/strict';
import fc from 'fast-check';
import { forAll } from '../../test/support/properties.ts';
import { clean, cut, cutBytes, cutStart, shortened } from '../src/text.ts';
import { anyText } from './support/texts.ts';

const bytes = (text: string): number => Buffer.byteLength(text);
const clusters = (text: string): string[] =>
  [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);

const FAMILY = '👨‍👩‍👧‍👦';
const part = fc.constantFrom('a', ' ', '\n', 'ä', 'e\u0301', '🚀', FAMILY, '🇩🇪', '한', '\ud83d', '\ude80', '\0');
const text = fc.oneof(
  fc.array(part, { maxLength: 400 }).map((parts) => parts.join('')),
  anyText(400),
);
const bound = fc.nat({ max: 600 });

describe('the cut of a text', () => {
  it('changes nothing if the text is not longer than the limit', () => {
    for (const short of [cut('🚀', 2), cutStart('🚀', 2), cutBytes('🚀', 4), shortened('🚀', 2)])
      assert.equal(short, '🚀');
  });

  for (const [what, character] of [
    ['an emoji', '🚀'],
    ['a family emoji', FAMILY],
    ['a flag', '🇩🇪'],
    ['a letter with a combining accent', 'e\u0301'],
    ['a syllable', '각'],
  ] as const)
    it(`is before ${what} that fits only in part`, () => {
      const limit = 71 + character.length - 1;
      assert.equal(cut(`${'a'.repeat(71)}${character} and more`, limit), 'a'.repeat(71));
      assert.equal(cutStart(`more and ${character}${'a'.repeat(71)}`, limit), 'a'.repeat(71));
      assert.equal(cutBytes(`${'a'.repeat(71)}${character} and more`, 71 + bytes(character) - 1), 'a'.repeat(71));
      assert.equal(cut(`${'a'.repeat(71)}${character} and more`, limit + 1), `${'a'.repeat(71)}${character}`);
    });

  it('is between code points in a grapheme cluster that is longer than the limit', () => {
    const accents = `e${'\u0301'.repeat(5000)}`;
    assert.equal(cut(accents, 100).length, 100);
    assert.equal(cutStart(accents, 100).length, 100);
    assert.equal(cut('🚀'.repeat(2), 1), '');
  });

  it('leaves no lone surrogates and no NUL characters', () => {
    assert.equal(clean('a\ud83db\0c\ude80\t\n'), 'a\ufffdbc\ufffd\t\n');
    assert.equal(shortened('\ud83d', 10), '\ufffd');
  });

  it('is followed by the number of missing characters in a shortened text', () =>
    assert.equal(shortened('abc🚀d', 4), 'abc… (3 more characters)'));

  it('keeps the limit, and leaves well-formed texts with complete grapheme clusters', () =>
    forAll(text, bound, (whole, limit) => {
      const repaired = whole.toWellFormed();
      const start = cut(whole, limit);
      const end = cutStart(whole, limit);
      const few = cutBytes(whole, limit);
      assert.ok(start.length <= limit && end.length <= limit && bytes(few) <= limit);
      assert.ok(repaired.startsWith(start) && repaired.endsWith(end) && repaired.startsWith(few));
      assert.ok([start, end, few].every((one) => one.isWellFormed()));
      const limits = new Set([0]);
      let at = 0;
      for (const cluster of clusters(whole)) {
        at += cluster.length;
        limits.add(at);
      }
      const longest = Math.max(0, ...clusters(whole).map(({ length }) => length));
      if (longest > limit || whole.length <= limit) return;
      assert.ok(limits.has(start.length), 'the beginning ends between clusters');
      assert.ok(limits.has(whole.length - end.length), 'the end begins between clusters');
      assert.ok(limit - start.length < longest && limit - end.length < longest, 'as much as possible is kept');
    }));

  it('reads only the text near the cut', () => {
    const huge = 'é'.repeat(2_000_000);
    const before = process.cpuUsage().user;
    for (let n = 0; n < 100; n++) cut(huge, 1_900_000 + n);
    const near = process.cpuUsage().user - before;
    const whole = process.cpuUsage().user;
    assert.equal(clusters(huge.slice(0, 500_000)).length, 500_000);
    assert.ok(near < process.cpuUsage().user - whole, 'a hundred cuts take less time than one pass over the text');
  });
});
