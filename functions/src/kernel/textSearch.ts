/**
 * Search that ignores case and accents and matches word prefixes.
 * Scripts without spaces are indexed by pairs of letters. `Intl.Segmenter` is not used, because its dictionaries
 * change with ICU: one version of Node might not find text that another one indexed. Everything here depends only on
 * stable Unicode properties of assigned letters: normalization, case folding, script and general category.
 */

/**
 * Plain letters for Latin letters that Unicode does not decompose, as people type them. Source: CLDR,
 * common/transforms/Latin-ASCII.xml, and the letter names in the Unicode Character Database.
 */
const LETTERS = {
  a: 'ɐɑɒᴀᶏᶐẚⱥꞻꬰꭤ',
  aa: 'ꜳ',
  ae: 'æᴁᴂꞛ',
  ao: 'ꜵ',
  au: 'ꜷ',
  av: 'ꜹꜻ',
  ay: 'ꜽ',
  b: 'ƀƃɓʙᴃᵬᶀꞗꞵ',
  c: 'ƈȼɕʗᴄↄꜿꞓꞔ𝼏𝼝',
  d: 'ðđƌƍȡɖɗᴅᴆᵭᶁᶑẟꝱꝺꟈ',
  db: 'ȸ',
  dz: 'ʣʥꭦ',
  e: 'ǝɇɘəɚɛɜɝɞʚᴇᴈᶒᶓᶔᶕⱸⱻꬲꬳꬴ',
  f: 'ƒɸᵮᶂⱷꜰꝼꞙꟻꬵ',
  g: 'ǥɠɡɢɣʛᵷᵹᶃꝿꞡꟑꬶ𝼁𝼂',
  h: 'ħɥɦɧʜʮʯⱨⱶꜧꞕꟶ',
  hv: 'ƕ',
  i: 'ɨɩɪᴉᵻᵼᶖꞽꟷ𝼚',
  j: 'ȷɉɟʄʝᴊ',
  k: 'ƙʞᴋᶄⱪꝁꝃꝅꞣ𝼃𝼐',
  l: 'łƚȴɫɬɭʟᴌᶅⱡꝇꝉꝲꞁꞎꬷꬸꬹ𝼄𝼑𝼓',
  ll: 'ỻ',
  ls: 'ʪ',
  lz: 'ʫ',
  m: 'ɯɰɱᴍᴟᵯᶆꝳꟺꟽꟿꬺ',
  n: 'ŋƞȵɲɳɴᴎᵰᶇꝴꞑꞥꬻꬼ𝼇𝼔',
  o: 'øɔɵɷᴏᴐᴑᴒᴓᴖᴗᶗⱺꝋꝍꞷꟁꬽꬾꬿ𝼛',
  oe: 'œɶᴔꞝꭀꭁꭂꭢ',
  oi: 'ƣ',
  oo: 'ꝏ',
  ou: 'ȣᴕ',
  p: 'ƥᴘᵱᵽᶈꝑꝓꝕꟼ',
  q: 'ĸɋʠꝗꝙꞯ',
  qp: 'ȹ',
  r: 'ɍɹɺɻɼɽɾɿʀʁᴙᴚᵲᵳᶉⱹꝛꝝꝵꝶꞃꞧꭅꭆꭈꭉꭊꭋꭌꭨ𝼈𝼕𝼖',
  s: 'ȿʂᵴᶊẜẝꜱꞅꞩꟊꟗꟙ𝼞',
  sh: 'ʃʆᶋᶘꭍ𝼋𝼌',
  t: 'ŧƫƭȶʇʈᴛᵵⱦꝷꞇ𝼉𝼍',
  tc: 'ʨ',
  th: 'þᵺꝥꝧꟓ',
  ts: 'ʦꭧ',
  tz: 'ꜩ',
  u: 'ʉʊᴜᴝᵾᵿᶙꞹꞿꭎꭏꭒ',
  ue: 'ᵫꞟ',
  ui: 'ꭐꭑ',
  uo: 'ꭣ',
  v: 'ʋʌᴠᶌỽⱱⱴꝟꝩ',
  vy: 'ꝡ',
  w: 'ƿʍᴡⱳꟃꟕ',
  x: 'ᶍꭓꭔꭕꭖꭗꭘꭙ',
  y: 'ƴɏʎʏỿꭚ𝼆',
  z: 'ƶƺȝȥɀʐʑʒʓᴢᴣᵶᶎᶚⱬ𝼘',
};

const LATIN_LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(LETTERS).flatMap(([plain, letters]) => [...letters].map((letter) => [letter, plain] as const)),
);

/** Maximum length of an indexed prefix. */
const MAX_PREFIX_LENGTH = 15;

/** Scripts that do not separate words, and Korean, which does not separate compounds and particles. */
const UNSPACED = [
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Yi', 'Tangut', 'Khitan_Small_Script', 'Nushu'],
  ...['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan', 'Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Ahom'],
  ...['Javanese', 'Balinese'],
]
  .map((script) => `\\p{Script=${script}}`)
  // Length and iteration marks that kana share.
  .concat('\u30fc', '\u3031-\u3035', '\u303c')
  .join('');

/** A run of letters of one kind: of scripts without spaces, or of all others. */
const RUN = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');

const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');

/** Marks are accents in these scripts. In others they form another letter: は and ば, कि and का. */
const ACCENTS = /([^\p{L}\p{M}]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+|^\p{M}+/gu;

/** Ignored characters within a word: joiners, soft hyphens, variation selectors, the Arabic tatweel. */
const NOT_OF_A_WORD = /[\p{Default_Ignorable_Code_Point}\u0640]+/gu;

/** Vowel points of Hebrew and Arabic, which most texts omit. */
const POINTS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u0652\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+/gu;

/** Returns the form in which texts are compared: without case, accents and invisible characters. */
export function folded(text: string): string {
  const plain = withoutAccents(text.replace(NOT_OF_A_WORD, ''));
  // Uppercase merges variants and expands ligatures: ß to SS, ς and σ, ı and i.
  const cased = withoutAccents(plain.toLowerCase().toUpperCase().toLowerCase()).replaceAll('ς', 'σ');
  return cased.replace(/\p{Script=Latin}/gu, (letter) => LATIN_LETTERS.get(letter) ?? letter).normalize('NFC');
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replace(ACCENTS, '$1');
}

/**
 * Returns the words of a text. `readFile` has `read`, `file` and `readfile`. A run of a script without spaces yields
 * each pair of adjacent letters, and its last letter. A word with vowel points is also indexed without them.
 */
export function wordsOf(text: string): readonly string[] {
  const apart = text.replace(/(\p{Ll}\p{M}*)(\p{Lu})/gu, '$1 $2').replace(NOT_OF_A_WORD, ' ');
  const words = [apart, text].flatMap((one) =>
    runsOf(one).flatMap((run) => (isUnspaced(run) ? [...pairsOf(run), ...lettersOf(run).slice(-1)] : run)),
  );
  return [...new Set(words.flatMap((word) => [word, word.replace(POINTS, '')]))].filter((word) => word !== '');
}

/**
 * Returns the words of a search. A run of a script without spaces yields its pairs of adjacent letters.
 * @param most maximum number of words to look up; long runs then yield fewer pairs
 */
export function searchWords(search: string, most = Number.POSITIVE_INFINITY): readonly string[] {
  const runs = [...new Set(runsOf(search))];
  const share = Math.max(1, Math.floor(most / runs.length));
  return [...new Set(runs.flatMap((run) => (isUnspaced(run) ? spreadEvenly(pairsOf(run), share) : run)))];
}

function runsOf(text: string): readonly string[] {
  return folded(text).match(RUN) ?? [];
}

function isUnspaced(run: string): boolean {
  return STARTS_UNSPACED.test(run);
}

/** Returns the letters of a run, each with its marks. */
function lettersOf(run: string): readonly string[] {
  return run.match(/.\p{M}*/gsu) ?? [];
}

/** Returns each letter with the next one, or the only letter. */
function pairsOf(run: string): readonly string[] {
  const letters = lettersOf(run);
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** Returns at most `most` evenly spaced items, from the first to the last. */
function spreadEvenly<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  const step = most === 1 ? 0 : (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, at) => items.slice(Math.round(at * step))).flatMap(([item]) => item ?? []);
}

/** Returns the option that a text names: exactly, or uniquely apart from form, case and invisible characters. */
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

/** Returns whether each of the words is a prefix of a word of the text. */
export function matchesWords(text: string, words: readonly string[]): boolean {
  const own = wordsOf(text);
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

/** Returns all prefixes of all words of a text, for an index. */
export function prefixesOf(text: string): readonly string[] {
  return [...new Set(wordsOf(text).flatMap(beginningsOf))];
}

function beginningsOf(word: string): readonly string[] {
  const letters = [...word].slice(0, MAX_PREFIX_LENGTH);
  return letters.map((_, index) => letters.slice(0, index + 1).join(''));
}

/** Returns the `prefixesOf` entry to look up for a word. */
export function lookupPrefix(word: string): string {
  return [...word].slice(0, MAX_PREFIX_LENGTH).join('');
}

/** Returns the entries to look up for several words, without those that another one implies. */
export function searchPrefixes(words: readonly string[]): readonly string[] {
  const prefixes = [...new Set(words.map(lookupPrefix))];
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && other.startsWith(one)));
}
