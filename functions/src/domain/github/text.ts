/** What others wrote on GitHub, on its way to an agent: data in a field of its own, never part of our sentences. */

/** Control characters beside tab and line feed, and those that reorder or hide what is shown. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking them out is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text without what cannot be seen, at most `most` characters long; one that was cut ends with `…`. */
export function plainText(text: string, most: number): string {
  const seen = text
    .slice(0, most * 4)
    .replace(UNSEEN, '')
    .replace(LONE_SURROGATES, '\ufffd');
  return seen.length <= most ? seen : `${seen.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
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
