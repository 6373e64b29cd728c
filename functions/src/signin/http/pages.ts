/**
 * The pages of the sign-in, as HTML. Names and hosts are a stranger's: Mustache escapes them all, and the one value
 * that it leaves alone is made here.
 */
import mustache from 'mustache';
import { oneLine } from '../../kernel/hidden.ts';
import { EMBEDDED_ID, type Embedded, fill, isFollowed, type PageSettings } from '../page/embedded.ts';
import { CONSENT, DOCUMENT, PROBLEM } from './templates.ts';
import { type Language, TEXTS, type Texts } from './texts.ts';
import { type FirebaseSettings, NOT_STORED } from './visit.ts';

export type { PageSettings } from '../page/embedded.ts';
export { type Language, languageOf } from './texts.ts';

export interface ConsentPage {
  readonly language: Language;
  readonly settings: PageSettings;
  /** URLs. */
  readonly assets: { readonly script: string; readonly style: string };
  /** What the client calls itself: hostile text. `host` is absent where nobody vouches for it. */
  readonly client: { readonly name: string; readonly host?: string };
  /** Where it leads back to. `isLocal`: a program on the person's computer, about which the page warns. */
  readonly redirect: { readonly host: string; readonly isLocal: boolean };
}

export type Problem = Exclude<keyof Texts['problems'], 'detail' | 'back'>;

export interface ProblemPage {
  readonly language: Language;
  /** A URL. */
  readonly style: string;
  readonly problem: Problem;
  /** In English, for whoever wrote the client. */
  readonly detail?: string;
  /** A link back to the client, which tells it of its error. */
  readonly back?: { readonly url: string; readonly host: string };
}

export function consentPage({ language, settings, assets, client, redirect }: ConsentPage): string {
  const texts = TEXTS[language];
  const name = oneLine(client.name);
  const host = client.host !== undefined && oneLine(client.host);
  const { script, done } = texts;
  return documentOf(language, assets, CONSENT, {
    texts,
    name,
    verified: host !== false && fill(texts.client.verified, { host }),
    redirect: { ...redirect, host: oneLine(redirect.host) },
    back: fill(done.back, { client: name }),
    google: settings.google,
    embeddedId: EMBEDDED_ID,
    embedded: embeddable({ ...settings, texts: script }),
  });
}

export function problemPage({ language, style, problem, detail, back }: ProblemPage): string {
  const { problems } = TEXTS[language];
  return documentOf(language, { style }, PROBLEM, {
    ...problems[problem],
    detail: detail !== undefined && { label: problems.detail, text: oneLine(detail) },
    back: back !== undefined &&
      isFollowed(back.url) && { url: back.url, label: fill(problems.back, { host: oneLine(back.host) }) },
  });
}

function documentOf(
  language: Language,
  assets: { readonly style: string; readonly script?: string },
  template: string,
  view: object,
): string {
  const { title } = TEXTS[language];
  return mustache.render(DOCUMENT, { language, title, assets, ...view }, { content: template });
}

/** JSON that ends no script element, whatever is in it. */
function embeddable(settings: Embedded): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(settings).replace(/[<>&\u2028\u2029]/g, escaped);
}

// What a browser may do on a page of the sign-in: next to nothing. Source: CSP Level 3; OWASP, "Clickjacking
// Defense".

/** Where Firebase's SDK signs in. */
const FIREBASE = ['https://identitytoolkit.googleapis.com', 'https://securetoken.googleapis.com'];

/** Google's window is opened by a script of Google's, in a frame of the project's own domain. */
const GOOGLE = 'https://apis.google.com';

export function pageHeaders({ emulator, google, authDomain }: FirebaseSettings): Record<string, string> {
  const asked = emulator === undefined ? FIREBASE : [emulator];
  const policy = {
    'default-src': ["'none'"],
    'script-src': ["'self'", ...(google ? [GOOGLE] : [])],
    'style-src': ["'self'"],
    'connect-src': ["'self'", ...asked],
    ...(google && { 'frame-src': [emulator ?? `https://${authDomain}`] }),
    'base-uri': ["'none'"],
    // A form that were sent could lead away; the script sends nothing by one.
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    // Google's script makes others, which the SDK does not declare.
    ...(!google && { 'require-trusted-types-for': ["'script'"], 'trusted-types': ["'none'"] }),
  };
  return {
    ...NOT_STORED,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': Object.entries(policy)
      .map(([name, values]) => [name, ...values].join(' '))
      .join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
