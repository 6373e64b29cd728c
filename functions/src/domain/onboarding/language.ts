/** The languages of a welcome, and which one a caller gets. */
import { german } from './languages/de.ts';
import { english } from './languages/en.ts';
import { spanish } from './languages/es.ts';
import { french } from './languages/fr.ts';
import { japanese } from './languages/ja.ts';
import { portuguese } from './languages/pt.ts';
import { chinese } from './languages/zh.ts';
import type { WelcomeText } from './text.ts';

/** ISO 639-1 codes. */
export const LANGUAGES = ['en', 'es', 'fr', 'de', 'pt', 'zh', 'ja'] as const;

export type Language = (typeof LANGUAGES)[number];

export const TEXTS: Readonly<Record<Language, WelcomeText>> = {
  en: english,
  es: spanish,
  fr: french,
  de: german,
  pt: portuguese,
  zh: chinese,
  ja: japanese,
};

/**
 * The language of a BCP 47 tag by its primary subtag, `pt` of `pt-BR`; English where there is none.
 * @returns whether English stands in for another language
 */
export function chooseLanguage(tag: string): { readonly language: Language; readonly isFallback: boolean } {
  const primary = tag.slice(0, 100).trim().split(/[-_]/)[0]?.toLowerCase();
  const language = LANGUAGES.find((known) => known === primary);
  return { language: language ?? 'en', isFallback: language === undefined };
}

/** Several words as the language lists them: "a, b and c". */
export function listed(words: readonly string[], language: Language): string {
  return new Intl.ListFormat(language, { type: 'conjunction' }).format(words);
}
