/** HTML of the sign-in pages. Names and hosts are untrusted: Mustache escapes every value except the settings. */
import mustache from 'mustache';
import { oneLine } from '../../kernel/hiddenCharacters.ts';
import { initialsOf } from '../../kernel/initials.ts';
import { EMBEDDED_ID, type Embedded, fill, isFollowed, type PageSettings } from '../page/embedded.ts';
import { type FirebaseSettings, NOT_STORED } from './signInRequest.ts';
import { type Language, TEXTS, type Texts } from './texts.ts';

export interface ConsentPage {
  readonly language: Language;
  readonly settings: PageSettings;
  /** Sample people, as whom anyone may sign in. Only the emulators have them. */
  readonly people: readonly { readonly displayName: string; readonly email: string; readonly password: string }[];
  readonly assets: { readonly script: string; readonly style: string };
  /** Name that the client gives itself, which is untrusted. `host` is absent if the name is unverified. */
  readonly client: { readonly name: string; readonly host?: string | undefined };
  /** Host to which the browser is redirected. `isLocal`: the target is a program on the person's computer. */
  readonly redirect: { readonly host: string; readonly isLocal: boolean };
}

export type Problem = Exclude<keyof Texts['problems'], 'detail' | 'back'>;

export interface ProblemPage {
  readonly language: Language;
  readonly style: string;
  readonly problem: Problem;
  /** Details in English for the developer of the client. */
  readonly detail?: string | undefined;
  /** Link back to the client. Its parameters report the error to the client. */
  readonly back?: { readonly url: string; readonly host: string } | undefined;
}

export function consentPage({ language, settings, people, assets, client, redirect }: ConsentPage): string {
  const texts = TEXTS[language];
  const name = oneLine(client.name);
  const { script, done, signIn } = texts;
  const isVerified = client.host !== undefined;
  return documentOf(language, assets, CONSENT, {
    texts,
    initials: initialsOf(name),
    heading: piecesOf(texts.heading, name),
    doubtful: !isVerified || redirect.isLocal,
    verified: isVerified && piecesOf(texts.client.verified, oneLine(client.host)),
    redirect: piecesOf(redirect.isLocal ? texts.client.local : texts.client.redirect, oneLine(redirect.host)),
    back: fill(done.back, { client: name }),
    google: settings.google,
    demo: people.length > 0 && {
      people: people.map((one) => ({ ...one, label: fill(signIn.continueAs, { name: one.displayName }) })),
    },
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
  const partials = { content: template, pieces: PIECES, mark: MARK, ...icons };
  return mustache.render(DOCUMENT, { language, title, assets, ...view }, partials);
}

/** Splits a text at its only placeholder, so that the page isolates the untrusted value from the text around it. */
function piecesOf(text: string, value: string): { before: string; value: string; after: string } {
  const [before = '', after = ''] = text.split(/\{\w+\}/);
  return { before, value, after };
}

/** Returns the settings as JSON in which no value can close the script element. */
function embeddable(settings: Embedded): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(settings).replace(/[<>&\u2028\u2029]/g, escaped);
}

// Content security policy and headers. They allow browsers to load almost nothing. Source: CSP Level 3; OWASP,
// "Clickjacking Defense".

/** Origins that the Firebase SDK calls to sign in. */
const FIREBASE = ['https://identitytoolkit.googleapis.com', 'https://securetoken.googleapis.com'];

/** Origin of Google's script, which opens the sign-in window from a frame of the project's domain. */
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
    // A submitted form could navigate to another site. The page's script submits no form.
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    // Google's script creates trusted types that the Firebase SDK does not declare.
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

// The HTML contains no inline script or style, because the policy above blocks both.

/** Icons of the console, by name. A test compares them with console/ui/icons.ts, which the server does not import. */
export const ICONS = {
  arrow: 'M3 8h10M9.4 4.4 13 8l-3.6 3.6',
  warn: 'M7.1 3.2 2 12a1 1 0 0 0 .9 1.4h10.2A1 1 0 0 0 14 12L8.9 3.2a1 1 0 0 0-1.8 0zM8 6.5v3|M7.15 11.4a0.85 0.85 0 1 0 1.7 0a0.85 0.85 0 1 0 -1.7 0z',
  approve: 'M8 2.3 12.8 4v3.6c0 3-2 5-4.8 6.1-2.8-1.1-4.8-3.1-4.8-6.1V4zM5.9 7.9l1.5 1.5 2.8-3',
  mail: 'M3.9 3.5h8.2a1.6 1.6 0 0 1 1.6 1.6v5.8a1.6 1.6 0 0 1 -1.6 1.6h-8.2a1.6 1.6 0 0 1 -1.6 -1.6v-5.8a1.6 1.6 0 0 1 1.6 -1.6zM2.7 4.8l5.3 4 5.3-4',
} as const;

const icons = Object.fromEntries(
  Object.entries(ICONS).map(([name, paths]) => {
    const [line = '', filled] = paths.split('|');
    const fill = filled === undefined ? '' : `<path class="filled" d="${filled}"/>`;
    return [name, `<svg class="i" viewBox="0 0 16 16" aria-hidden="true">${fill}<path d="${line}"/></svg>`];
  }),
);

const MARK =
  '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M6.5 21.5l5-12 4.5 8 4.5-8 5 12"/><circle cx="16" cy="24" r="2.3"/></svg>';

const PIECES = '{{before}}<bdi>{{value}}</bdi>{{after}}';

const DOCUMENT = `<!doctype html>
<html lang="{{language}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>{{title}}</title>
<link rel="stylesheet" href="{{assets.style}}">
{{#assets.script}}
<script src="{{assets.script}}" defer></script>
{{/assets.script}}
</head>
<body class="door">
{{> content}}
</body>
</html>
`;

const PROBLEM = `<main class="card">
{{> mark}}
<div class="stack">
<h1>{{heading}}</h1>
<p class="soft">{{text}}</p>
</div>
{{#detail}}
<div>
<p class="hint">{{label}}</p>
<p lang="en" class="mono">{{text}}</p>
</div>
{{/detail}}
{{#back}}
<a class="b wide" href="{{url}}">{{label}}</a>
{{/back}}
</main>`;

/** Client and redirect target. The page shows both before the person signs in. */
const CLIENT = `<div class="stack">
<span class="line"><span class="who large c" aria-hidden="true">{{initials}}</span>{{> arrow}}{{> mark}}</span>
<div>
<h1>{{#heading}}{{> pieces}}{{/heading}}</h1>
<p id="identity" class="soft" hidden><span id="person"></span>
<button type="button" class="bare another">{{texts.choices.another}}</button></p>
</div>
</div>
<p class="notice {{#doubtful}}wait{{/doubtful}}">{{#doubtful}}{{> warn}}{{/doubtful}}{{^doubtful}}{{> approve}}{{/doubtful}}
<span>
{{#verified}}{{> pieces}}{{/verified}}
{{^verified}}<b>{{texts.client.unverified}}</b> {{texts.client.registeredItself}}{{/verified}}
{{#redirect}}{{> pieces}}{{/redirect}}
</span></p>
<noscript><p class="notice wait">{{texts.noScript}}</p></noscript>`;

const SIGN_IN = `<section id="sign-in" hidden>
<form id="sign-in-form" class="stack">
<h2>{{texts.signIn.heading}}</h2>
<p id="sign-in-notice" role="status"></p>
<div class="field">
<label for="email">{{texts.signIn.email}}</label>
<input id="email" class="input" type="email" required maxlength="256" autocomplete="username" autocapitalize="none"
 spellcheck="false" aria-describedby="sign-in-error">
</div>
<div id="password-row" class="field">
<label for="password">{{texts.signIn.password}}</label>
<input id="password" class="input" type="password" required autocomplete="current-password" aria-describedby="sign-in-error">
</div>
<p id="sign-in-error" class="hint bad" role="alert"></p>
<button type="submit" class="b primary wide">{{texts.signIn.submit}}</button>
<div id="other-ways" class="stack">
<p class="or">{{texts.signIn.or}}</p>
<div class="field">
<button id="send-link" type="button" class="b wide" aria-describedby="send-link-hint">{{> mail}}{{texts.signIn.link}}</button>
<p id="send-link-hint" class="hint">{{texts.signIn.linkHint}}</p>
</div>
{{#google}}
<button id="google" type="button" class="b wide">{{texts.signIn.google}}</button>
{{/google}}
{{#demo}}
<p class="hint">{{texts.signIn.demo}}</p>
{{#people}}
<button type="button" class="b wide sample" data-email="{{email}}" data-password="{{password}}">{{label}}</button>
{{/people}}
{{/demo}}
</div>
<button type="button" class="b quiet wide cancel">{{texts.cancel}}</button>
</form>
</section>`;

const STANDSTILL = `<section id="standstill" class="stack" hidden>
<h2 tabindex="-1">{{texts.standstill.heading}}</h2>
<p id="standstill-error" role="alert"></p>
<button id="retry" type="button" class="b primary wide">{{texts.standstill.retry}}</button>
<button type="button" class="b wide another">{{texts.choices.another}}</button>
<button type="button" class="b quiet wide cancel">{{texts.cancel}}</button>
</section>`;

const CHOICES = `<section id="choices" hidden>
<form id="choices-form" class="stack">
<h2 class="away" tabindex="-1">{{texts.choices.heading}}</h2>
<div class="field">
<label for="agent-name">{{texts.choices.agentName}}</label>
<input id="agent-name" class="input" type="text" required maxlength="60" autocomplete="off" spellcheck="false"
 aria-describedby="agent-name-hint choices-error">
<p id="agent-name-hint" class="hint">{{texts.choices.agentNameHint}}</p>
</div>
<div class="two">
<div class="field"><label for="role">{{texts.choices.role}}</label><select id="role" class="input"></select></div>
<div class="field"><label for="workspace">{{texts.choices.workspace}}</label><select id="workspace" class="input"></select></div>
</div>
<fieldset class="field">
<legend>{{texts.choices.toolsets}}</legend>
<div id="toolsets" class="two card pad"></div>
</fieldset>
<div class="check">
<input id="readonly" type="checkbox" aria-describedby="readonly-hint">
<div>
<label for="readonly"><b>{{texts.choices.readonly}}</b></label>
<p id="readonly-hint" class="hint">{{texts.choices.readonlyHint}}</p>
</div>
</div>
<p id="choices-error" class="hint bad" role="alert"></p>
<div class="two acts">
<button type="button" class="b cancel">{{texts.cancel}}</button>
<button id="allow" type="submit" class="b primary">{{texts.choices.allow}}</button>
</div>
</form>
</section>`;

const ENDED = `<section id="ended" class="stack" hidden>
<h2 tabindex="-1">{{texts.ended.heading}}</h2>
<p id="ended-error" role="alert"></p>
<p>{{texts.ended.text}}</p>
</section>`;

const DONE = `<section id="done" class="stack" hidden>
<h2 tabindex="-1">{{texts.done.heading}}</h2>
<a id="back" class="b wide">{{back}}</a>
</section>`;

const CONSENT = `<main id="main" class="card wide">
${[CLIENT, SIGN_IN, STANDSTILL, CHOICES, ENDED, DONE].join('\n')}
</main>
<footer class="hint">{{texts.revoke}}</footer>
<p id="progress" class="toast" role="status"></p>
<script type="application/json" id="{{embeddedId}}">{{{embedded}}}</script>`;
