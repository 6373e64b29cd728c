/**
 * Handles texts from GitHub that other people have written. They are returned as data in separate fields, never as
 * parts of Muster's sentences. Long files are returned in several parts.
 */
import { withoutHidden } from '../../../kernel/hiddenCharacters.ts';
import { fitsPage, MAX_LISTED_BYTES } from '../../../kernel/json.ts';

/** Removes hidden characters, and shortens the text to `max` characters, which include the `…` at its end. */
export function plainText(text: string, max: number): string {
  const seen = withoutHidden(text.slice(0, max * 4)).toWellFormed();
  return seen.length <= max ? seen : `${prefixOf(seen, max - 1)}…`;
}

/** Like `plainText`, and joins the lines to one line. */
export function plainLine(text: string, max: number): string {
  return plainText(text, max).replace(/[\t\n]+/g, ' ');
}

/** Returns the address if it is a web address that contains no credentials; otherwise undefined. */
export function webAddress(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && href.length <= 2000 ? href : undefined;
}

/** Matches base64 text without line breaks. */

const ENCODED = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function isBase64(text: string): boolean {
  return ENCODED.test(text);
}

/** Decodes base64 to text; undefined if the data is not UTF-8 or contains NUL, which Git treats as binary too. */
export function utf8Text(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const MAX_PART_CHARACTERS = MAX_LISTED_BYTES;

/** Maximum bytes per part, which is below 25,000 tokens in base64. A multiple of 3, the group size of base64. */
const BASE64_BYTES = 24_000;

/**
 * Returns the part of a text that starts at the offset and fits in one response.
 * @param offset in bytes; if the offset lies within a character, the rest of that character becomes U+FFFD
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

/** Returns the first `max` UTF-16 code units of a text, or one less if the last one would be half a character. */
function prefixOf(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\ud800-\udbff]$/, '');
}
