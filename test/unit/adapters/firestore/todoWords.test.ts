/** What search asks of Firestore, against what it promises, for any to-do and any words. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  anywhere,
  type SoughtWord,
  type WordIndex,
  waysOfHaving,
  wordIndexOf,
} from '../../../../functions/src/adapters/firestore/todoWords.ts';
import { matchesWords, searchWords, soughtPrefixes } from '../../../../functions/src/domain/search.ts';

const OWNER = 'owner-1';

/** Few letters, so that words often meet. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', 'B', '見'), minLength: 1, maxLength: 4 });
const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
const todo = fc.record({ ownerUid: fc.constant(OWNER), title: text, description: text });
const search = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));

describe('the words of a to-do', () => {
  it('are found in exactly one of the ways where it has all that are sought, and in none otherwise', () => {
    fc.assert(
      fc.property(todo, search, (written, query) => {
        const sought = searchWords(query);
        const words = soughtPrefixes(sought);
        const index = wordIndexOf(written);
        const ways = waysOfHaving(words).map((way) => has(index, way));
        const isMatch = matchesWords(`${written.title}\n${written.description}`, sought);
        assert.equal(ways.filter((isTrue) => isTrue).length, isMatch ? 1 : 0);
        assert.equal(has(index, anywhere(words)), isMatch);
        assert.equal(ways[0], matchesWords(written.title, sought));
      }),
    );
  });

  it('name their owner, whom a search is for', () => {
    const { title, rest, any } = wordIndexOf({ ownerUid: OWNER, title: 'Tea', description: 'Tea or ice' });
    assert.deepEqual(title, { t: OWNER, te: OWNER, tea: OWNER });
    assert.deepEqual(Object.keys(rest).sort(), ['i', 'ic', 'ice', 'o', 'or']);
    assert.deepEqual({ ...title, ...rest }, any);
  });

  it('are as few fields as Firestore takes, for the longest to-do', () => {
    const letters = (number: number) => number.toString(36).padStart(4, 'x');
    const words = Array.from({ length: 312 }, (_, number) => `${letters(number)}${'y'.repeat(11)}`);
    const description = words.join(' ').slice(0, 5000);
    const fields = Object.values(wordIndexOf({ ownerUid: OWNER, title: 'A'.repeat(500), description }));
    assert.ok(fields.reduce((sum, list) => sum + Object.keys(list).length, 0) < 10_000);
  });
});

function has(index: WordIndex, sought: readonly SoughtWord[]): boolean {
  return sought.every(({ place, word: one }) => index[place][one] === OWNER);
}
