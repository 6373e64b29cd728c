/** Search that knows neither case nor accents and finds words by how they begin. */

/** The longest beginning of a word that is looked up. */
const MAX_PREFIX_LENGTH = 15;

export function folded(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The words of a text; `readFile` has `read`, `file` and `readfile`. */
export function wordsOf(text: string): readonly string[] {
  const apart = text.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2');
  return [...new Set([...searchWords(apart), ...searchWords(text)])];
}

/** The words that a search asks for. */
export function searchWords(search: string): readonly string[] {
  const words = folded(search).split(/[^\p{L}\p{N}]+/u);
  return [...new Set(words.filter((word) => word !== ''))];
}

/** Whether each of the words begins one of the text's. */
export function matchesWords(text: string, words: readonly string[]): boolean {
  const own = wordsOf(text);
  return words.every((word) => own.some((one) => one.startsWith(word)));
}

/** Every beginning of every word of a text, for an index. */
export function prefixesOf(text: string): readonly string[] {
  const prefixes = wordsOf(text).flatMap((word) => {
    const letters = [...word].slice(0, MAX_PREFIX_LENGTH);
    return letters.map((_, index) => letters.slice(0, index + 1).join(''));
  });
  return [...new Set(prefixes)];
}

/** The entry of prefixesOf by which a word is searched for. */
export function lookedUpPrefix(word: string): string {
  return [...word].slice(0, MAX_PREFIX_LENGTH).join('');
}

/** The same of several words, without those that another of them implies. */
export function soughtPrefixes(words: readonly string[]): readonly string[] {
  const prefixes = [...new Set(words.map(lookedUpPrefix))];
  return prefixes.filter((one) => !prefixes.some((other) => other !== one && other.startsWith(one)));
}

/**
 * Colours, cursor movements, titles and the like, which a terminal would obey in the output of programs and agents.
 * Source: ECMA-48.
 */
const CODES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Control characters beside tab and line feed, and those that reorder what is shown. */
const CONTROLS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Without the codes of terminals. */
export function withoutCodes(text: string): string {
  return text.replace(CODES, '');
}

/** Without the codes of terminals; any other control character can be seen, as U+FFFD. */
export function terminalText(text: string): string {
  return withoutCodes(text).replace(/\r\n?/g, '\n').replace(CONTROLS, '\ufffd');
}
