/**
 * Characters that cannot be seen or that reorder what is shown. They can carry words that no person reads to a model,
 * and make a name look like another one. docs/security.md#characters-that-cannot-be-seen has the table.
 * Source: Unicode Technical Standard 39; Unicode Technical Standard 51, emoji sequences.
 */

/** Scripts whose letters change their form by joiners. */
const JOINING = [
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Mandaic', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan', 'Thaana'],
  ...['Javanese', 'Balinese', 'Tai_Tham', 'Chakma', 'Grantha', 'Newa', 'Tirhuta', 'Sharada', 'Adlam'],
]
  .map((script) => `\\p{Script=${script}}`)
  .join('');

/** Always hidden: nothing that people read needs them. */
const ALWAYS = [
  // Controls apart from tab and line feed; lines are ended by a line feed only.
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029',
  // Directions, and formats that Unicode deprecates.
  '\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069\\u206a-\\u206f',
  // Without a width: soft hyphens, spaces, joiners of words, signs of mathematics, shorthand and music.
  '\\u00ad\\u034f\\u180e\\u200b\\u2060-\\u2065\\ufeff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}',
  // Fillers of Hangul, and vowels of Khmer that are never written.
  '\\u115f\\u1160\\u3164\\uffa0\\u17b4\\u17b5',
  // Annotations between lines, tags, and what is reserved beside them.
  '\\ufff0-\\ufffb\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}',
].join('');

const SELECTORS = '\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}';

/** Hidden unless they choose the form of the character before them. One of them after each character can. */
const UNLESS_OF_A_CHARACTER = [
  `(?<!\\p{Script=Han})[\\ufe00-\\ufe0d\\u{e0100}-\\u{e01ef}]`,
  `(?<![^\\s${ALWAYS}${SELECTORS}\\u200c\\u200d])[\\ufe0e\\ufe0f]`,
  '(?<![\\u1820-\\u18aa])[\\u180b-\\u180d\\u180f]',
  `(?<![${JOINING}])\\u200c`,
  `(?<![${JOINING}])(?:(?<![\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d|\\u200d(?!\\p{Extended_Pictographic}))`,
].join('|');

/** Matches each hidden character, for the places that show where it is. */
export const HIDDEN = new RegExp(`[${ALWAYS}]|${UNLESS_OF_A_CHARACTER}`, 'gu');

/** Returns the text without hidden characters. Joiners and selectors stay where a letter or an emoji needs them. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

/** Returns the text on one line, with a space for each run of what is hidden, private or half of a pair. */
export function oneLine(text: string): string {
  return text
    .replace(HIDDEN, ' ')
    .replace(/[\s\p{Cs}\p{Co}\u2800]+/gu, ' ')
    .trim();
}

/** Characters that leave no mark: U+2800 and U+1D159 are a blank pattern and an empty note. */
const WITHOUT_A_MARK =
  /[\s\p{Z}\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]/gu;

/** Whether a person sees anything of a text. */
export function isVisible(text: string): boolean {
  return text.replace(WITHOUT_A_MARK, '') !== '';
}
