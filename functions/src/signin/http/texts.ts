/** Texts of the sign-in pages. The languages are those of the welcome texts. */
import texts from './texts.json' with { type: 'json' };

/** ISO 639-1 codes of the languages. The first language is the default. */
export const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'] as const;
export type Language = (typeof LANGUAGES)[number];
export type Texts = typeof texts.en;

/** `script` contains the texts of the browser's script; the rest is for the HTML. `{…}` is a placeholder. */
export const TEXTS: Readonly<Record<Language, Texts>> = texts;

/** Maximum number of characters of Accept-Language that are read. Browsers usually send about ten languages. */
const MAX_HEADER_LENGTH = 500;

/** Returns the supported language that the header weights highest. Source: RFC 9110, 12.5.4. */
export function languageOf(acceptLanguage: string | undefined): Language {
  const wishes = (acceptLanguage ?? '').slice(0, MAX_HEADER_LENGTH).split(',').map(languagePreferenceOf);
  const best = wishes.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
  for (const { tag } of best) {
    if (tag === '*') break;
    const known = LANGUAGES.find((language) => language === tag.split('-')[0]);
    if (known !== undefined) return known;
  }
  return LANGUAGES[0];
}

/** Parses one language of the header. An invalid language has the weight 0. */
function languagePreferenceOf(range: string): { readonly tag: string; readonly weight: number } {
  const found = /^\s*([a-z]{1,8}(?:-[a-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?$/i.exec(range);
  const [, tag = '', quality = '1'] = found ?? [];
  return { tag: tag.toLowerCase(), weight: tag === '' ? 0 : Math.min(1, Number(quality)) };
}
