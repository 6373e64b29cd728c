/**
 * Invisible characters, and characters that reorder the text around them. They can hide instructions to a model from
 * people, and make two names look the same. The table is in docs/security.md#characters-that-cannot-be-seen. Source:
 * Unicode Technical Standard 39; Unicode Technical Standard 51, emoji sequences.
 */

/** Scripts in which joiners (U+200C and U+200D) change the form of letters. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Mandaic', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan', 'Thaana'],
  ...['Javanese', 'Balinese', 'Tai_Tham', 'Chakma', 'Grantha', 'Newa', 'Tirhuta', 'Sharada', 'Adlam'],
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** Characters that are hidden in any position, because no readable text needs them. */
const ALWAYS = [
  // Control characters except tab and line feed, and the line and paragraph separators U+2028 and U+2029.
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029',
  // Characters that set the text direction, and deprecated format characters.
  '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u206a-\\u206f',
  // Characters of zero width: soft hyphens, spaces, word joiners, and invisible signs of math, shorthand and music.
  '\\u00ad\\u034f\\u180e\\u200b\\u2060-\\u2065\\ufeff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}',
  // Hangul fillers, and Khmer vowels that are never written.
  '\\u115f\\u1160\\u3164\\uffa0\\u17b4\\u17b5',
  // Interlinear annotations, tag characters, and the reserved characters next to both.
  '\\ufff0-\\ufffb\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}',
].join('');

const SELECTORS = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}';

/** Selectors and joiners, which are hidden unless they change the form of the character before them. */
const UNLESS_OF_A_CHARACTER = [
  `(?<!\\p{Script=Han})[\\ufe00-\\ufe0d\\u{e0100}-\\u{e01ef}]`,
  `(?<![^\\s${ALWAYS}${SELECTORS}\\u200c\\u200d])[\\ufe0e\\ufe0f]`,
  '(?<![\\u1820-\\u18aa])[\\u180b-\\u180d\\u180f]',
  `(?<![${JOINING}])\\u200c`,
  `(?<![${JOINING}])(?:(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d|\\u200d(?!\\p{Extended_Pictographic}))`,
].join('|');

/** Matches each hidden character, to replace it or to report its position. */
export const HIDDEN_CHARACTERS = new RegExp(`[${ALWAYS}]|${UNLESS_OF_A_CHARACTER}`, 'gu');

/** Returns the text without hidden characters. Joiners and selectors that a letter or emoji needs are kept. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN_CHARACTERS, '');
}

/** Returns the text as one line. Each run of hidden, private-use or unpaired characters becomes one space. */
export function oneLine(text: string): string {
  return text
    .replace(HIDDEN_CHARACTERS, ' ')
    .replace(/[\s\p{Cs}\p{Co}\u2800]+/gu, ' ')
    .trim();
}

/** Characters that are assigned but blank: U+2800 is a Braille pattern without dots, U+1D159 a null note head. */
const WITHOUT_A_MARK =
  /[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]/gu;

/** Returns whether a text contains a visible character. */
export function isVisible(text: string): boolean {
  return text.replace(WITHOUT_A_MARK, '') !== '';
}
