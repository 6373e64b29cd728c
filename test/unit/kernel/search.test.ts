import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  lookedUpPrefix,
  matchesWords,
  prefixesOf,
  searchWords,
  soughtPrefixes,
  wordsOf,
} from '../../../functions/src/kernel/text.ts';

describe('a search', () => {
  it('knows neither case nor accents', () => {
    assert.deepEqual(searchWords('  Crème, BRÛLÉE crème '), ['creme', 'brulee']);
    assert.ok(matchesWords('Crème brûlée', ['creme', 'BRU'.toLowerCase()]));
    assert.ok(!matchesWords('Crème brûlée', ['reme']));
    assert.ok(matchesWords('anything', []));
  });

  it('finds the words within a name, and the name as a whole', () => {
    assert.deepEqual(wordsOf('readFile'), ['read', 'file', 'readfile']);
    assert.deepEqual(wordsOf('coordination.claim_task'), ['coordination', 'claim', 'task']);
  });

  it('looks up no word that another implies, and of a long one what the index has', () => {
    assert.deepEqual(soughtPrefixes(['meet', 'meeting', 'met', 'meet']), ['meeting', 'met']);
    assert.deepEqual(soughtPrefixes(['internationalisation']), ['internationalis']);
    assert.deepEqual(soughtPrefixes([]), []);
  });

  it('finds by the index what it matches', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (name, which, length) => {
        const words = wordsOf(name);
        const word = words[which % Math.max(words.length, 1)];
        if (word === undefined) return;
        const letters = [...word];
        const sought = letters.slice(0, 1 + (length % letters.length)).join('');
        assert.ok(matchesWords(name, [sought]));
        assert.ok(prefixesOf(name).includes(lookedUpPrefix(sought)));
      }),
    );
  });
});
