/**
 * What others wrote on GitHub, on its way to an agent: data in a field of its own, never part of our sentences. The
 * content of files is whole, in as many parts as answers have room for.
 */
import { withoutHidden } from '../../../kernel/hidden.ts';
import { fitsPage, MAX_LISTED_BYTES } from '../../../kernel/json.ts';

/** The text without what cannot be seen, at most `most` characters long; one that was cut ends with `…`. */
export function plainText(text: string, most: number): string {
  const seen = withoutHidden(text.slice(0, most * 4)).toWellFormed();
  return seen.length <= most ? seen : `${beginning(seen, most - 1)}…`;
}

/** The same on one line. */
export function plainLine(text: string, most: number): string {
  return plainText(text, most).replace(/[\t\n]+/g, ' ');
}

/** The address, if it is one of the web's. */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && href.length <= 2000
    ? href
    : undefined;
}

/** The content of files, which GitHub gives in base64. */

const ENCODED = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function isBase64(text: string): boolean {
  return ENCODED.test(text);
}

/** The text, or undefined where the bytes are not UTF-8 or hold a NUL: what Git too takes for binary. */
export function utf8Text(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** No answer has room for more of a text. */
const MOST_CHARACTERS = MAX_LISTED_BYTES;

/** Their base64 has less than 25,000 tokens, and does not end within a group of its letters. */
const BASE64_BYTES = 24_000;

/**
 * The part of a file from an offset that one answer has room for; `nextOffset` says where the next begins, if any.
 * @param offset in bytes; within a letter, what is left of it comes as U+FFFD
 */
export function textPart(text: string, offset: number) {
  const rest = Buffer.from(text).subarray(offset).toString();
  let content = beginning(rest, MOST_CHARACTERS);
  while (!fitsPage(content)) content = beginning(rest, Math.floor(content.length * 0.8));
  if (content.length === rest.length) return { content };
  return { content, nextOffset: offset + Buffer.byteLength(content) };
}

export function base64Part(base64: string, offset: number) {
  const bytes = Buffer.from(base64, 'base64');
  const end = offset + BASE64_BYTES;
  const content = bytes.subarray(offset, end).toString('base64');
  return { content, ...(end < bytes.length && { nextOffset: end }) };
}

/** At most so many UTF-16 units of the text, and no half of a character. */
function beginning(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
