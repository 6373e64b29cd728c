/**
 * Search that ignores case and accents and finds words by their beginnings.
 *
 * Scripts without spaces are indexed by pairs of letters. Dictionaries (`Intl.Segmenter`) change with ICU, and a text
 * that one version of Node had segmented would then not be found by another. Everything here depends only on properties
 * that Unicode does not change for assigned letters: normalization, case folding, script and general category.
 */

/**
 * Latin letters that Unicode does not decompose, by the plain letters that people type for them.
 * Source: CLDR, common/transforms/Latin-ASCII.xml, and the names of the letters in the Unicode Character Database.
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
  Object.entries(LETTERS).flatMap(([plain, letters]) =>
    [...letters].map((letter) => [letter, plain] as const),
  ),
);

/** The longest beginning of a word that is looked up. */
const MAX_PREFIX_LENGTH = 15;

/** Scripts whose words are not separated, and Korean, whose compounds and particles are not. */
const UNSPACED = [
  ...['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Yi', 'Tangut', 'Khitan_Small_Script', 'Nushu'],
  ...['Thai', 'Lao', 'Khmer', 'Myanmar', 'Tibetan', 'Tai_Le', 'New_Tai_Lue', 'Tai_Tham', 'Tai_Viet', 'Ahom'],
  ...['Javanese', 'Balinese'],
]
  .map((script) => `\\p{Script=${script}}`)
  // Marks of length and repetition that kana share.
  .concat('\u30fc', '\u3031-\u3035', '\u303c')
  .join('');

/** A run of letters of one kind: of scripts without spaces, or of all others. */
const RUN = new RegExp(`[${UNSPACED}][${UNSPACED}\\p{M}]*|(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}])+`, 'gu');

const STARTS_UNSPACED = new RegExp(`^[${UNSPACED}]`, 'u');

/** Marks are accents in these scripts. In others, they make another letter: は and ば, कि and का. */
const ACCENTS = /([^\p{L}\p{M}]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+|^\p{M}+/gu;

/** Characters within a word that are not part of it: joiners, soft hyphens, variation selectors, Arabic's stretching. */
const NOT_OF_A_WORD = /[\p{Default_Ignorable_Code_Point}\u0640]+/gu;

/** Vowels of Hebrew and Arabic, which most texts leave out. */
const POINTS =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u0652\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+/gu;

/** Returns the form in which texts are compared: without case, accents, and what cannot be seen. */
export function folded(text: string): string {
  const plain = withoutAccents(text.replace(NOT_OF_A_WORD, ''));
  // Capitals have more letters (ß, SS) or fewer forms (ς, σ; ı, i).
  const cased = withoutAccents(plain.toLowerCase().toUpperCase().toLowerCase()).replaceAll('ς', 'σ');
  return cased
    .replace(/\p{Script=Latin}/gu, (letter) => LATIN_LETTERS.get(letter) ?? letter)
    .normalize('NFC');
}

function withoutAccents(text: string): string {
  return text.normalize('NFKD').replace(ACCENTS, '$1');
}

/**
 * Returns the words of a text. `readFile` has `read`, `file` and `readfile`. A run of a script without spaces has each
 * pair of neighbours, and its last letter. A word with points has itself without them, too.
 */
export function wordsOf(text: string): readonly string[] {
  const apart = text.replace(/(\p{Ll}\p{M}*)(\p{Lu})/gu, '$1 $2').replace(NOT_OF_A_WORD, ' ');
  const words = [apart, text].flatMap((one) =>
    runsOf(one).flatMap((run) => (isUnspaced(run) ? [...pairsOf(run), ...lettersOf(run).slice(-1)] : run)),
  );
  return [...new Set(words.flatMap((word) => [word, word.replace(POINTS, '')]))].filter(
    (word) => word !== '',
  );
}

/**
 * Returns the words that a search asks for. A run of a script without spaces is asked for by its pairs of neighbours.
 * @param most how many words a caller can look up; long runs are then asked for by fewer pairs
 */
export function searchWords(search: string, most = Number.POSITIVE_INFINITY): readonly string[] {
  const runs = [...new Set(runsOf(search))];
  const share = Math.max(1, Math.floor(most / runs.length));
  return [...new Set(runs.flatMap((run) => (isUnspaced(run) ? spread(pairsOf(run), share) : run)))];
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

/** Returns each letter with the one after it, or the only letter. */
function pairsOf(run: string): readonly string[] {
  const letters = lettersOf(run);
  return letters.length === 1 ? letters : letters.slice(1).map((letter, at) => `${letters[at]}${letter}`);
}

/** Returns at most so many of some items, from the first to the last, at even distances. */
function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  const step = most === 1 ? 0 : (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, at) => items.slice(Math.round(at * step))).flatMap(
    ([item]) => item ?? [],
  );
}

/** Returns the option that a text means: the same, or the only one that differs by form, case or unseen characters. */
export function optionMeant(options: readonly string[], text: string): string | undefined {
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

/** Whether each of the words begins one of the text's. */
export function matchesWords(text: string, words: readonly string[]): boolean {
  const own = wordsOf(text);
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

/** Returns every beginning of every word of a text, for an index. */
export function prefixesOf(text: string): readonly string[] {
  return [...new Set(wordsOf(text).flatMap(beginningsOf))];
}

function beginningsOf(word: string): readonly string[] {
  const letters = [...word].slice(0, MAX_PREFIX_LENGTH);
  return letters.map((_, index) => letters.slice(0, index + 1).join(''));
}

/** Returns the entry of `prefixesOf` by which a word is searched for. */
export function lookedUpPrefix(word: string): string {
  return [...word].slice(0, MAX_PREFIX_LENGTH).join('');
}

/** Returns the entries for several words, without those that another of them implies. */
export function soughtPrefixes(words: readonly string[]): readonly string[] {
  const prefixes = [...new Set(words.map(lookedUpPrefix))];
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && other.startsWith(one)));
}
