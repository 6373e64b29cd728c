import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  folded,
  lookupPrefix,
  matchesWords,
  prefixesOf,
  searchPrefixes,
  searchWords,
  wordsOf,
} from '../../../functions/src/kernel/textSearch.ts';
import { forAll } from '../../support/properties.ts';

const finds = (text: string, search: string): boolean => matchesWords(text, searchWords(search));

describe('search by words', () => {
  it('ignores case and accents', () => {
    assert.deepEqual(searchWords('  Crème, BRÛLÉE crème '), ['creme', 'brulee']);
    assert.ok(matchesWords('Crème brûlée', ['creme', 'BRU'.toLowerCase()]));
    assert.ok(!matchesWords('Crème brûlée', ['reme']));
    assert.ok(matchesWords('anything', []));
  });

  it('finds a name by any of its words and by the whole name', () => {
    assert.deepEqual(wordsOf('readFile'), ['read', 'file', 'readfile']);
    assert.deepEqual(wordsOf('coordination.claim_task'), ['coordination', 'claim', 'task']);
  });

  it('skips a word that another word implies, and looks up at most the indexed prefix', () => {
    assert.deepEqual(searchPrefixes(['meet', 'meeting', 'met', 'meet']), ['meeting', 'met']);
    assert.deepEqual(searchPrefixes(['internationalisation']), ['internationalis']);
    assert.deepEqual(searchPrefixes([]), []);
  });

  it('finds every matching text through the index', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    forAll(text, fc.nat(), fc.nat(), (name, which, length) => {
      const words = wordsOf(name);
      const word = words[which % Math.max(words.length, 1)];
      if (word === undefined) return;
      const letters = [...word];
      const sought = letters.slice(0, 1 + (length % letters.length)).join('');
      assert.ok(matchesWords(name, [sought]));
      assert.ok(prefixesOf(name).includes(lookupPrefix(sought)));
    });
  });
});

describe('search in a script without spaces between words', () => {
  const TEXTS = {
    Japanese: ['明日の会議を準備する', '会議', '準備', '会', '明日の会議', 'る'],
    Katakana: ['コーヒーメーカーを買う', 'メーカー', 'ﾒｰｶｰ', 'ー'],
    Chinese: ['购买牛奶和面包', '牛奶', '面包', '牛', '购买牛奶和面包'],
    Korean: ['회의실예약하기', '예약', '회의실', '기', '예약하기'.normalize('NFD')],
    Thai: ['ประชุมพรุ่งนี้ตอนเช้า', 'พรุ่งนี้', 'ตอนเช้า', 'ป', 'ประชุม'],
    Lao: ['ຊື້ນົມແລະເຂົ້າຈີ່', 'ນົມ', 'ເຂົ້າຈີ່'],
    Khmer: ['ទិញទឹកដោះគោនិងនំប៉័ង', 'ទឹកដោះគោ', 'នំប៉័ង'],
    Burmese: ['နို့နှင့်ပေါင်မုန့်ဝယ်ပါ', 'ပေါင်မုန့်', 'ဝယ်ပါ'],
    Tibetan: ['བོད་སྐད་སློབ་སྦྱོང་', 'སྐད', 'སློབ་སྦྱོང', 'བོད'],
    mixed: ['新しいiPhoneとT恤を3つ購入', 'iphone', 'IPHONE', '恤', '購入', '3', 'T恤', 'iPhoneとT恤'],
  };

  for (const [name, [text = '', ...sought]] of Object.entries(TEXTS))
    it(`finds words within a text in ${name}`, () => {
      for (const search of sought) {
        assert.ok(finds(text, search), search);
        const index = prefixesOf(text);
        for (const one of searchPrefixes(searchWords(search, 10))) assert.ok(index.includes(one), search);
      }
      assert.ok(!finds(text, '議会'));
      assert.ok(!finds(text, '奶牛'));
    });

  it('finds every part of a text with at most ten lookups', () => {
    const letter = fc.constantFrom(...'会議明日のカー牛奶회의กิน้ำལ་ខ្មែरबがは゛');
    const text = fc.string({ unit: letter, minLength: 1, maxLength: 60 });
    forAll(text, fc.nat(), fc.nat(), (written, from, length) => {
      // Keeps each letter together with its marks, because a letter without its mark is another letter.
      const letters = folded(written).match(/.\p{M}*/gsu) ?? [];
      if (letters.length === 0) return;
      const start = from % letters.length;
      const part = letters.slice(start, start + 1 + (length % 30)).join('');
      const index = prefixesOf(written);
      const words = searchWords(part, 10);
      const runs = part.split(/[^\p{L}\p{N}\p{M}]+/u).length;
      assert.ok(words.length <= Math.max(10, runs), `${words.length} words`);
      for (const one of searchPrefixes(words)) assert.ok(index.includes(one), `${part} in ${written}`);
    });
  });

  it('finds a long word by the whole word and by any prefix', () => {
    const word = 'Donaudampfschifffahrtsgesellschaft';
    for (let length = 1; length <= word.length; length++) {
      const sought = word.slice(0, length);
      assert.ok(finds(word, sought));
      for (const one of searchPrefixes(searchWords(sought))) assert.ok(prefixesOf(word).includes(one));
    }
  });
});

describe('search with letters that have no accents', () => {
  const PAIRS = [
    ['Đà Nẵng', 'da nang'],
    ['Łódź', 'lodz'],
    ['Straße', 'strasse'],
    ['Ærø', 'aero'],
    ['Œuvre', 'oeuvre'],
    ['Þórður', 'thordur'],
    ['Ħamrun', 'hamrun'],
    ['ışık', 'isik'],
    ['İstanbul', 'istanbul'],
    ['Ŋgaju', 'ngaju'],
    ['Əliyev', 'eliyev'],
    ['ſtraße', 'STRASSE'],
    ['Ɓala', 'bala'],
    ['οδοστρωσία', 'ΟΔΟΣ'],
    ['ёлка', 'елка'],
  ] as const;

  for (const [one, other] of PAIRS)
    it(`finds ${one} with the search word ${other}, in composed or decomposed form`, () => {
      const ways = [other, other.toUpperCase(), other.normalize('NFD')];
      for (const search of ways) assert.ok(finds(one, search), search);
      const texts = [one, one.toUpperCase(), one.normalize('NFD')];
      for (const text of texts) assert.ok(finds(text, one.toLowerCase()), text);
      if (folded(one) === folded(other)) assert.ok(finds(other, one));
    });

  it('replaces each Latin letter that has a base letter by that letter, in both cases', () => {
    const without: string[] = [];
    for (let code = 0xc0; code < 0x1e00 + 0x200; code++) {
      const letter = String.fromCodePoint(code);
      if (!/[\p{Lu}\p{Ll}]/u.test(letter) || !/\p{Script=Latin}/u.test(letter)) continue;
      assert.equal(folded(letter.toUpperCase()), folded(letter), letter);
      if (!/^[a-z]+$/.test(folded(letter).replace('ʼ', ''))) without.push(letter);
    }
    // The exceptions are letters that combine a letter with a sign, and phonetic letters without a base letter.
    assert.equal(without.join(''), 'ĿŀƄƅƛƧƨƪƸƹƼƽƾɁɂɤɮʅʖʘʡʢʤʧʩʬʭᴞᴤᴥẚ');
  });

  it('does not change a text that was already converted for the search', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 20 });
    forAll(text, (one) => assert.equal(folded(folded(one)), folded(one)));
  });
});

describe('search for a letter whose mark makes it a different letter', () => {
  const DIFFERENT = [
    ['はなを買う', 'ばな'],
    ['ばなを買う', 'はな'],
    ['हाथी', 'हथी'],
    ['कि', 'का'],
    ['획', '회'],
    ['กิน', 'กัน'],
    ['ငါး', 'ငါ့'],
    ['أب', 'اب'],
    ['כַּל', 'כֹּל'],
  ] as const;

  for (const [text, search] of DIFFERENT)
    it(`does not find ${text} with the search word ${search}`, () => {
      for (const form of ['NFC', 'NFD'] as const) assert.ok(!finds(text.normalize(form), search), form);
    });

  it('finds a composed text by a decomposed word, and the reverse, in every script', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    forAll(text, (one) => {
      assert.deepEqual(wordsOf(one.normalize('NFD')), wordsOf(one.normalize('NFC')));
      assert.deepEqual(searchWords(one.normalize('NFD')), searchWords(one.normalize('NFC')));
    });
    for (const word of ['caféBar', 'ばな', 'がっこう', '회의', 'हिन्दी', 'ក្មេង', 'أب'])
      assert.ok(finds(word.normalize('NFD'), word.normalize('NFC')), word);
  });

  it('finds a word with vowel points by the word without points, but not with other points', () => {
    assert.ok(finds('מִטְבָּח', 'מטבח'));
    assert.ok(finds('كِتاب مُفيد', 'كتاب'));
    assert.ok(finds('كِتاب', 'كِتاب'));
    assert.ok(!finds('كِتاب', 'كُتاب'));
  });

  it('finds a word that contains invisible joiners or hyphens as one word and as several words', () => {
    for (const search of ['می\u200cخواهم', 'میخواهم', 'خواهم']) assert.ok(finds('می\u200cخواهم', search), search);
    for (const search of ['dampfschiff', 'schiff']) assert.ok(finds('Dampf\u00adschiff', search), search);
    assert.ok(finds('葛\u{e0100}飾区', '葛飾'));
    assert.ok(finds('1\ufe0f\u20e3 first', '1'));
  });
});
