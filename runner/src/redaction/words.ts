/** Distinguishes human text from generated secrets. */

/** Maximum length of a word in ordinary text. An AWS access key has 20 letters and digits. */
const MAX_WORD_LENGTH = 19;

/** Minimum average run of letters of one kind in ordinary text. The average in random base64 is about 1.7. */
const MIN_AVERAGE_RUN = 3;

/** Initial in a person's name, such as "J.". */
const INITIAL = /(?<![A-Za-z])[A-Z]\.(?![A-Za-z])/g;
const CONSONANTS_IN_A_ROW = /[bcdfghjklmnpqrstvwxz]{6}/i;

/**
 * Returns whether a text consists of words: pronounceable runs of letters, in any case, with any separators. Random
 * letters change case too often or have too many consonants in a row.
 */
export function hasOnlyWords(text: string): boolean {
  if (/\d/.test(text) || CONSONANTS_IN_A_ROW.test(text)) return false;
  const runs = runsOf(text.replace(INITIAL, ''));
  return !isRandom(runs, MIN_AVERAGE_RUN) && runs.every(({ length }) => length > 1 && length <= MAX_WORD_LENGTH);
}

/**
 * Returns whether a text switches between capitals, small letters and digits as often as random base64.
 * @param longest maximum average run length, in characters
 */
export function looksRandom(text: string, longest = MIN_AVERAGE_RUN): boolean {
  return isRandom(runsOf(text), longest);
}

/** Returns whether a text looks like a path with readable parts, unlike base64 that starts with a slash. */
export function looksLikePath(text: string): boolean {
  return /^(?:~|\.{0,2}\/|[A-Za-z]:[\\/]).*[\\/]/.test(text) && !looksRandom(text);
}

/** Splits a text into runs of digits and of letters in one case. A capital before small letters joins their run. */
function runsOf(text: string): readonly string[] {
  return text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
}

function isRandom(runs: readonly string[], longest: number): boolean {
  const characters = runs.reduce((total, { length }) => total + length, 0);
  return characters < longest * Math.max(1, runs.length);
}
