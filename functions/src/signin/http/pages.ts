/** HTML of the sign-in pages. Names and hosts are untrusted: Mustache escapes every value except the settings. */
import mustache from 'mustache';
import { oneLine } from '../../kernel/hiddenCharacters.ts';
import { EMBEDDED_ID, type Embedded, fill, isFollowed, type PageSettings } from '../page/embedded.ts';
import { type FirebaseSettings, NOT_STORED } from './signInRequest.ts';
import { type Language, TEXTS, type Texts } from './texts.ts';

export type { PageSettings } from '../page/embedded.ts';
export { type Language, languageOf } from './texts.ts';

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
  const host = client.host !== undefined && oneLine(client.host);
  const { script, done } = texts;
  return documentOf(language, assets, CONSENT, {
    texts,
    name,
    verified: host !== false && fill(texts.client.verified, { host }),
    redirect: { ...redirect, host: oneLine(redirect.host) },
    back: fill(done.back, { client: name }),
    google: settings.google,
    people,
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
<body>
{{> content}}
</body>
</html>
`;

const PROBLEM = `<main>
<h1>{{heading}}</h1>
<p>{{text}}</p>
{{#detail}}
<p class="hint">{{label}}</p>
<p lang="en" class="detail">{{text}}</p>
{{/detail}}
{{#back}}
<p><a class="button" href="{{url}}">{{label}}</a></p>
{{/back}}
</main>`;

/** Client and redirect target. The page shows both before the person signs in. */
const CLIENT = `<h1>{{texts.heading}}</h1>
<dl>
<dt>{{texts.client.name}}</dt>
<dd><bdi class="name">{{name}}</bdi></dd>
<dt>{{texts.client.identity}}</dt>
{{#verified}}
<dd><bdi>{{verified}}</bdi></dd>
{{/verified}}
{{^verified}}
<dd class="doubt">{{texts.client.unverified}}</dd>
{{/verified}}
<dt>{{texts.client.redirect}}</dt>
<dd><bdi>{{redirect.host}}</bdi>{{#redirect.isLocal}} ({{texts.client.local}}){{/redirect.isLocal}}</dd>
</dl>
{{#redirect.isLocal}}
<p class="warning">{{texts.client.warning}}</p>
{{/redirect.isLocal}}
<noscript><p class="warning">{{texts.noScript}}</p></noscript>
<p id="progress" class="progress" role="status"></p>`;

const SIGN_IN = `<section id="sign-in" hidden>
<form id="sign-in-form">
<h2>{{texts.signIn.heading}}</h2>
<p id="sign-in-notice" role="status"></p>
<label for="email">{{texts.signIn.email}}</label>
<input id="email" type="email" required maxlength="256" autocomplete="username" autocapitalize="none"
 spellcheck="false" aria-describedby="sign-in-error">
<div id="password-row" class="row">
<label for="password">{{texts.signIn.password}}</label>
<input id="password" type="password" required autocomplete="current-password" aria-describedby="sign-in-error">
</div>
<p id="sign-in-error" class="error" role="alert"></p>
<button type="submit" class="primary">{{texts.signIn.submit}}</button>
<div id="other-ways">
<button id="send-link" type="button" aria-describedby="send-link-hint">{{texts.signIn.link}}</button>
<p id="send-link-hint" class="hint">{{texts.signIn.linkHint}}</p>
{{#google}}
<button id="google" type="button">{{texts.signIn.google}}</button>
{{/google}}
{{#people}}
<button type="button" class="sample" data-email="{{email}}" data-password="{{password}}">{{texts.signIn.submit}}: {{displayName}}</button>
{{/people}}
</div>
<button type="button" class="cancel">{{texts.cancel}}</button>
</form>
</section>`;

const STANDSTILL = `<section id="standstill" hidden>
<h2 tabindex="-1">{{texts.standstill.heading}}</h2>
<p id="standstill-error" class="error" role="alert"></p>
<button id="retry" type="button" class="primary">{{texts.standstill.retry}}</button>
<button type="button" class="another">{{texts.choices.another}}</button>
<button type="button" class="cancel">{{texts.cancel}}</button>
</section>`;

const CHOICES = `<section id="choices" hidden>
<form id="choices-form">
<h2 tabindex="-1">{{texts.choices.heading}}</h2>
<p id="person" class="name"></p>
<button type="button" class="another small">{{texts.choices.another}}</button>
<label for="agent-name">{{texts.choices.agentName}}</label>
<input id="agent-name" type="text" required maxlength="60" autocomplete="off" spellcheck="false"
 aria-describedby="agent-name-hint choices-error">
<p id="agent-name-hint" class="hint">{{texts.choices.agentNameHint}}</p>
<label for="role">{{texts.choices.role}}</label>
<select id="role"></select>
<label for="workspace">{{texts.choices.workspace}}</label>
<select id="workspace"></select>
<fieldset>
<legend>{{texts.choices.toolsets}}</legend>
<div id="toolsets"></div>
</fieldset>
<div class="choice">
<input id="readonly" type="checkbox" role="switch" aria-describedby="readonly-hint">
<div>
<label for="readonly">{{texts.choices.readonly}}</label>
<p id="readonly-hint" class="hint">{{texts.choices.readonlyHint}}</p>
</div>
</div>
<p id="choices-error" class="error" role="alert"></p>
<button id="allow" type="submit" class="primary">{{texts.choices.allow}}</button>
<button type="button" class="cancel">{{texts.cancel}}</button>
</form>
</section>`;

const ENDED = `<section id="ended" hidden>
<h2 tabindex="-1">{{texts.ended.heading}}</h2>
<p id="ended-error" class="error" role="alert"></p>
<p>{{texts.ended.text}}</p>
</section>`;

const DONE = `<section id="done" hidden>
<h2 tabindex="-1">{{texts.done.heading}}</h2>
<p><a id="back" class="button">{{back}}</a></p>
</section>`;

const CONSENT = `<main id="main">
${[CLIENT, SIGN_IN, STANDSTILL, CHOICES, ENDED, DONE].join('\n')}
</main>
<script type="application/json" id="{{embeddedId}}">{{{embedded}}}</script>`;
