/** Word index of to-dos, compared with the expected matches for any to-do and any words. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { matchesWords, prefixesOf, searchPrefixes, searchWords } from '../../../functions/src/kernel/textSearch.ts';
import {
  MAX_WORD_BYTES,
  matchVariants,
  type SearchWord,
  type WordIndex,
  wordIndexOf,
} from '../../../functions/src/toolsets/todo/store/todoDocument.ts';
import { forAll } from '../../support/properties.ts';

const OWNER = 'owner-1';

/** Only a few different letters, so that words often match. */
const word = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', 'B', '見', '習', 'は', 'ば', 'ß', '회'),
  minLength: 1,
  maxLength: 4,
});
const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
const todo = fc.record({ owner_uid: fc.constant(OWNER), title: text, description: text });
const search = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));

describe('word index of a to-do', () => {
  it('has exactly one entry for a search if the to-do contains all its words, and otherwise none', () =>
    forAll(todo, search, (written, query) => {
      const sought = searchWords(query);
      const words = searchPrefixes(sought);
      const index = wordIndexOf(written);
      const ways = matchVariants(words).map((way) => has(index, way));
      const isMatch = matchesWords(`${written.title}\n${written.description}`, sought);
      assert.equal(ways.filter((isTrue) => isTrue).length, isMatch ? 1 : 0);
      assert.equal(
        has(
          index,
          words.map((word) => ({ place: 'any', word })),
        ),
        isMatch,
      );
      assert.equal(ways[0], matchesWords(written.title, sought));
    }));

  it("contains the owner in every entry, so that a search finds only the owner's to-dos", () => {
    const { title, rest, any } = wordIndexOf({ owner_uid: OWNER, title: 'Tea', description: 'Tea or ice' });
    assert.deepEqual(title, { t: OWNER, te: OWNER, tea: OWNER });
    assert.deepEqual(Object.keys(rest).sort(), ['i', 'ic', 'ice', 'o', 'or']);
    assert.deepEqual({ ...title, ...rest }, any);
  });

  it('contains all words of a typical text of 5,000 letters', () => {
    const guide = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8');
    const text = guide.slice(0, 5000);
    const index = wordIndexOf({ owner_uid: 'u'.repeat(28), title: 'Read this', description: text });
    assert.deepEqual(Object.keys(index.any).sort(), [...prefixesOf(`Read this ${text}`)].sort());
  });

  it('contains a title of 100 letters and a description of 500 in a script without spaces', () => {
    const letters = (count: number, first: number) =>
      Array.from({ length: count }, (_, at) => String.fromCodePoint(0x4e00 + ((first + at * at) % 3000))).join('');
    const [title, description] = [letters(100, 0), letters(500, 7)];
    const index = wordIndexOf({ owner_uid: 'u'.repeat(28), title, description });
    for (const one of prefixesOf(title)) assert.ok(one in index.title, one);
    for (const one of prefixesOf(description)) assert.ok(one in index.any, one);
  });

  it('has a limited size for any text and owner, and gives priority to the title', () => {
    const letters = (alphabet: string, number: number) =>
      [...number.toString(2).padStart(9, '0')].map((digit) => [...alphabet][Number(digit)]).join('');
    for (const [alphabet, filler] of [
      ['xy', 'z'],
      ['𒀀𒀁', '𒀂'],
    ] as const) {
      const words = Array.from({ length: 312 }, (_, at) => `${letters(alphabet, at)}${filler.repeat(6)}`);
      const description = words.join(' ').slice(0, 5000);
      const ownerUid = 'u'.repeat(128);
      const index = wordIndexOf({ owner_uid: ownerUid, title: 'Quite another', description });
      const names = Object.values(index).flatMap((place) => Object.keys(place));
      const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name) + 130, 0);
      assert.ok(bytes <= MAX_WORD_BYTES && bytes > MAX_WORD_BYTES / 2, `${bytes} bytes`);
      assert.ok('another' in index.title);
      assert.ok(words[0] !== undefined && words[0] in index.rest);
    }
  });
});

function has(index: WordIndex, sought: readonly SearchWord[]): boolean {
  return sought.every(({ place, word: one }) => index[place][one] === OWNER);
}
