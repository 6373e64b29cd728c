/**
 * Texts from GitHub, written by others: returned as data in separate fields, never within Muster's own sentences.
 * Contents of files are complete, split into as many parts as necessary.
 */
import { withoutHidden } from '../../../kernel/hiddenCharacters.ts';
import { fitsPage, MAX_LISTED_BYTES } from '../../../kernel/json.ts';

/** Removes hidden characters and truncates to `max` characters, ending with `…`. */
export function plainText(text: string, max: number): string {
  const seen = withoutHidden(text.slice(0, max * 4)).toWellFormed();
  return seen.length <= max ? seen : `${prefixOf(seen, max - 1)}…`;
}

/** Like `plainText`, on one line. */
export function plainLine(text: string, max: number): string {
  return plainText(text, max).replace(/[\t\n]+/g, ' ');
}

/** Returns the address if it is a web URL without credentials. */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && href.length <= 2000 ? href : undefined;
}

/** Base64, in which GitHub returns file contents. */

const ENCODED = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function isBase64(text: string): boolean {
  return ENCODED.test(text);
}

/** Returns the text; undefined if it is not UTF-8 or contains a NUL, which Git treats as binary too. */
export function utf8Text(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Maximum characters of a text in one response. */
const MAX_PART_CHARACTERS = MAX_LISTED_BYTES;

/** Maximum bytes per part: fewer than 25,000 tokens in base64, and a multiple of 3, the size of a base64 group. */
const BASE64_BYTES = 24_000;

/**
 * Returns the part of a file from an offset that fits into a response, and the next part's `nextOffset`, if any.
 * @param offset in bytes; within a character, its rest becomes U+FFFD
 */
export function textPart(text: string, offset: number) {
  const rest = Buffer.from(text).subarray(offset).toString();
  let content = prefixOf(rest, MAX_PART_CHARACTERS);
  while (!fitsPage(content)) content = prefixOf(rest, Math.floor(content.length * 0.8));
  if (content.length === rest.length) return { content };
  return { content, nextOffset: offset + Buffer.byteLength(content) };
}

export function base64Part(base64: string, offset: number) {
  const bytes = Buffer.from(base64, 'base64');
  const end = offset + BASE64_BYTES;
  const content = bytes.subarray(offset, end).toString('base64');
  return { content, ...(end < bytes.length && { nextOffset: end }) };
}

/** Returns at most `max` UTF-16 units of the text, without splitting a character. */
function prefixOf(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
