/** Characters that are not there to be read: controls, direction marks, zero-width ones, halves of pairs. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]+/gu;

/** A caller's text as it may stand in a sentence: on one line, nothing in it but what can be read. */
export function plainText(text: string): string {
  return text.replace(INVISIBLE, ' ').replace(/\s+/gu, ' ').trim();
}
