/** What people read while they sign in, in the languages that a welcome speaks. */
import texts from './texts.json' with { type: 'json' };

/** ISO 639-1 codes; the first is spoken where none of them is asked for. */
export const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'] as const;

export type Language = (typeof LANGUAGES)[number];

export type Texts = typeof texts.en;

/** `script` is what the browser's script says; the rest stands in the page. Braces are filled in where it is shown. */
export const TEXTS: Readonly<Record<Language, Texts>> = texts;

/** Browsers name about ten languages; a header of any length costs no more than this. */
const MAX_HEADER_LENGTH = 500;

/** The language that somebody reads best of those that are here. Source: RFC 9110, 12.5.4. */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wishes = (acceptLanguage ?? '').slice(0, MAX_HEADER_LENGTH).split(',').map(wishOf);
  const best = wishes.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
  for (const { tag } of best) {
    if (tag === '*') break;
    const known = LANGUAGES.find((language) => language === tag.split('-')[0]);
    if (known !== undefined) return known;
  }
  return LANGUAGES[0];
}

/** What makes no sense weighs nothing. */
function wishOf(range: string): { readonly tag: string; readonly weight: number } {
  const found = /^\s*([a-z]{1,8}(?:-[a-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i.exec(
    range,
  );
  const [, tag = '', quality = '1'] = found ?? [];
  return { tag: tag.toLowerCase(), weight: tag === '' ? 0 : Math.min(1, Number(quality)) };
}
