/** Keys that the Realtime Database allows. Source: https://firebase.google.com/docs/database/usage/limits */

const MAX_KEY_BYTES = 768;

/** Levels below the root. */
export const MAX_DEPTH = 32;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the database refuses exactly these
const FORBIDDEN = /[.#$[\]/\u0000-\u001f\u007f]/;

/** What is wrong with a key, or undefined. */
export function faultOf(key: string): string | undefined {
  if (key === '') return 'is empty';
  if (FORBIDDEN.test(key)) return 'holds one of . # $ [ ] / or a control character';
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) return `is longer than ${MAX_KEY_BYTES} bytes`;
  return undefined;
}
