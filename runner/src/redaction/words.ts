/** Differences between text that people write and text that a generator of secrets writes. */

/** Longest word of ordinary text. An access key of AWS has 20 letters and digits. */
const MAX_WORD_LENGTH = 19;

/** Random base64 has runs of about 1.7 characters of one kind, text has runs of more than 3. */
const MIN_AVERAGE_RUN = 3;

/** Initial of a name. */
const INITIAL = /(?<![A-Za-z])[A-Z]\.(?![A-Za-z])/g;

const CONSONANTS_IN_A_ROW = /[bcdfghjklmnpqrstvwxz]{6}/i;

/**
 * Whether a text has only words: letters in runs that can be pronounced, in any case, with any separators. Random
 * letters change their case, or lack vowels, too often for that.
 */
export function hasOnlyWords(text: string): boolean {
  if (/\d/.test(text) || CONSONANTS_IN_A_ROW.test(text)) return false;
  const runs = runsOf(text.replace(INITIAL, ''));
  return (
    !isRandom(runs, MIN_AVERAGE_RUN) && runs.every(({ length }) => length > 1 && length <= MAX_WORD_LENGTH)
  );
}

/**
 * Whether a text changes between capitals, small letters and digits as often as random base64.
 * @param longest average length of the runs that is too long for that, in characters
 */
export function looksRandom(text: string, longest = MIN_AVERAGE_RUN): boolean {
  return isRandom(runsOf(text), longest);
}

/** Whether a text has the form of a path with readable parts; base64 that starts with a slash has not. */
export function looksLikePath(text: string): boolean {
  return /^(?:~|\.{0,2}\/|[A-Za-z]:[\\/]).*[\\/]/.test(text) && !looksRandom(text);
}

/** Runs of letters in one case, with or without a capital in front, and runs of digits. */
function runsOf(text: string): readonly string[] {
  return text.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g) ?? [];
}

function isRandom(runs: readonly string[], longest: number): boolean {
  const characters = runs.reduce((total, { length }) => total + length, 0);
  return characters < longest * Math.max(1, runs.length);
}
