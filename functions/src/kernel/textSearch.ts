/**
 * Search that ignores case and accents, and finds words by prefix. In scripts without spaces, pairs of letters are
 * indexed instead of words. `Intl.Segmenter` is not used, because its dictionaries differ between versions of ICU, so
 * one version of Node.js might miss a text that another version indexed. This file depends only on Unicode properties
 * that never change for assigned letters: normalization, case folding, script and general category.
 */
import latinLetters from './latinLetters.json' with { type: 'json' };

/**
 * Plain letters that people type for Latin letters that Unicode does not decompose. Source: CLDR,
 * common/transforms/Latin-ASCII.xml, and the letter names in the Unicode Character Database.
 */
const LATIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(latinLetters).flatMap(([plain, letters]) => [...letters].map((letter) => [letter, plain] as const)),
);

/** Maximum length of a prefix in the index, in code points. */
const MAX_PREFIX_LENGTH = 15;

/** Scripts that do not separate words, and Hangul, because Korean does not separate compounds and particles. */
const UNSPACED = [
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Yi', 'Tangut', 'Khitan_Small_Script', 'Nushu'],
  ...['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan', 'Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Ahom'],
  ...['Javanese', 'Balinese'],
]
  .map((script) => `\\p{Script=${script}}`)
  // Marks for long and repeated sounds, which hiragana and katakana share.
  .concat('\u30fc', '\u3031-\u3035', '\u303c')
  .join('');

/** A run of letters that all belong to scripts without spaces, or all belong to other scripts. */
const RUN = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');
const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');

/** In these scripts, marks are accents. In other scripts, a mark makes another letter: は and ば, कि and का. */
const ACCENTS = /([^\p{L}\p{M}]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+|^\p{M}+/gu;

/** Characters within a word that are ignored: joiners, soft hyphens, variation selectors, and the Arabic tatweel. */
const NOT_OF_A_WORD = /[\p{Default_Ignorable_Code_Point}\u0640]+/gu;

/** Vowel points of Hebrew and Arabic. Most texts omit them. */
const POINTS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u0652\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+/gu;

/** Returns the form of a text in which texts are compared: without case, accents and invisible characters. */
export function folded(text: string): string {
  const plain = withoutAccents(text.replace(NOT_OF_A_WORD, ''));
  // Uppercase unites variants and expands ligatures: ß becomes SS; ς and σ become Σ, ı and i become I.
  const cased = withoutAccents(plain.toLowerCase().toUpperCase().toLowerCase()).replaceAll('ς', 'σ');
  return cased.replace(/\p{Script=Latin}/gu, (letter) => LATIN_LETTERS.get(letter) ?? letter).normalize('NFC');
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replace(ACCENTS, '$1');
}

/**
 * Returns the words of a text. `readFile` yields `read`, `file` and `readfile`. A run of a script without spaces
 * yields each pair of adjacent letters, and its last letter. A word with vowel points also appears without them.
 */
export function wordsOf(text: string): readonly string[] {
  const apart = text.replace(/(\p{Ll}\p{M}*)(\p{Lu})/gu, '$1 $2').replace(NOT_OF_A_WORD, ' ');
  const words = [apart, text].flatMap((one) =>
    runsOf(one).flatMap((run) => (isUnspaced(run) ? [...pairsOf(run), ...lettersOf(run).slice(-1)] : run)),
  );
  return [...new Set(words.flatMap((word) => [word, word.replace(POINTS, '')]))].filter((word) => word !== '');
}

/**
 * Returns the words to look up for a search. A run of a script without spaces yields its pairs of adjacent letters.
 * @param limit maximum number of words; if it is exceeded, long runs yield fewer pairs
 */
export function searchWords(search: string, limit = Number.POSITIVE_INFINITY): readonly string[] {
  const runs = [...new Set(runsOf(search))];
  const share = Math.max(1, Math.floor(limit / runs.length));
  return [...new Set(runs.flatMap((run) => (isUnspaced(run) ? spreadEvenly(pairsOf(run), share) : run)))];
}

function runsOf(text: string): readonly string[] {
  return folded(text).match(RUN) ?? [];
}

function isUnspaced(run: string): boolean {
  return STARTS_UNSPACED.test(run);
}

/** Returns the letters of a run, each with the marks that follow it. */
function lettersOf(run: string): readonly string[] {
  return run.match(/.\p{M}*/gsu) ?? [];
}

/** Returns each pair of adjacent letters, or the letter itself if there is only one. */
function pairsOf(run: string): readonly string[] {
  const letters = lettersOf(run);
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

function spreadEvenly<Item>(items: readonly Item[], max: number): readonly Item[] {
  if (items.length <= max) return items;
  const step = max === 1 ? 0 : (items.length - 1) / (max - 1);
  return Array.from({ length: max }, (_, at) => items.slice(Math.round(at * step))).flatMap(([item]) => item ?? []);
}

/** Returns the option equal to the text, or the only one that equals it except for case and invisible characters. */
export function matchOption(options: readonly string[], text: string): string | undefined {
  if (options.includes(text)) return text;
  const wanted = comparable(text);
  const [found, ...others] = options.filter((option) => comparable(option) === wanted);
  return others.length === 0 ? found : undefined;
}

function comparable(text: string): string {
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim();
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

/** Returns whether each word is a prefix of a word of the text. */
export function matchesWords(text: string, words: readonly string[]): boolean {
  const own = wordsOf(text);
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

/** Returns all prefixes of all words of a text, to store in an index. */
export function prefixesOf(text: string): readonly string[] {
  return [...new Set(wordsOf(text).flatMap(beginningsOf))];
}

function beginningsOf(word: string): readonly string[] {
  const letters = [...word].slice(0, MAX_PREFIX_LENGTH);
  return letters.map((_, index) => letters.slice(0, index + 1).join(''));
}

/** Returns the entry of `prefixesOf` that finds a word. */
export function lookupPrefix(word: string): string {
  return [...word].slice(0, MAX_PREFIX_LENGTH).join('');
}

/** Returns the index entries to look up for several words, without entries that another entry implies. */
export function searchPrefixes(words: readonly string[]): readonly string[] {
  const prefixes = [...new Set(words.map(lookupPrefix))];
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && other.startsWith(one)));
}
