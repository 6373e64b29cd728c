import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ICONS as CONSOLE_ICONS } from '../../../console/ui/icons.ts';
import {
  type ConsentPage,
  consentPage,
  ICONS,
  type Problem,
  problemPage,
} from '../../../functions/src/signin/http/pages.ts';
import { LANGUAGES, languageOf, TEXTS } from '../../../functions/src/signin/http/texts.ts';
import { type Embedded, fill, isFollowed } from '../../../functions/src/signin/page/embedded.ts';
import { toolsets } from '../../../functions/src/toolsets/index.ts';
import { forAll } from '../../support/properties.ts';

const page = (changes: Partial<ConsentPage> = {}): ConsentPage => ({
  language: 'en',
  settings: {
    authorization: 'authorization-1',
    personUrl: 'https://muster.example/person',
    decisionUrl: 'https://muster.example/decision',
    continueUrl: 'https://muster.example/authorize?authorization=authorization-1',
    firebase: { apiKey: 'key', authDomain: 'muster.firebaseapp.com' },
    google: false,
  },
  people: [],
  assets: { script: 'https://muster.example/page.js', style: 'https://muster.example/page.css' },
  client: { name: 'Claude Code', host: 'claude.ai' },
  redirect: { host: 'claude.ai', isLocal: false },
  ...changes,
});

/** Returns the settings that the page contains for its script. */
function embeddedIn(html: string): Embedded {
  const [, json = ''] = /<script type="application\/json" id="settings">(.*?)<\/script>/s.exec(html) ?? [];
  return JSON.parse(json);
}

/** Returns the tags of a page without texts and without the values of attributes. */
const tagsOf = (html: string) => (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));

/** Returns the text that a browser would show for this HTML. */
const shown = (html: string) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+|x[\dA-F]+);/gi, (_, code: string) => String.fromCharCode(Number(code.replace(/^x/i, '0x'))))
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&');

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        '<img src=x onerror=alert(1)>',
        '</script>',
        '"',
        "'",
        '{{{embedded}}}',
        '{{#texts}}',
        '{client}',
        '&',
        '`',
        '\u202e',
        '\u2028',
        '<!--',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join('')),
);

describe('sign-in page that asks for consent', () => {
  it('shows the app, the verified host of the app and the host of the redirect URI', () => {
    const text = shown(consentPage(page()));
    assert.match(text, /\bCC\s+Claude Code wants to act for you\s/);
    assert.match(text, /Verified by claude\.ai\.\s+It returns you to claude\.ai\.\s/);
    assert.doesNotMatch(text, /Unverified|program on this computer/);
    assert.match(consentPage(page()), /<p class="notice ">/);
  });

  it('states that an app is not verified, and warns if the app is a program on this computer', () => {
    const html = consentPage(page({ client: { name: 'X' }, redirect: { host: 'localhost:3118', isLocal: true } }));
    assert.match(shown(html), /Unverified app\. It registered itself/);
    assert.match(shown(html), /a program on this computer \(localhost:3118\)\. Continue only if you just started this/);
    assert.match(html, /<p class="notice wait">/);
    const verified = consentPage(page({ redirect: { host: 'localhost:3118', isLocal: true } }));
    assert.match(verified, /<p class="notice wait">/, 'a program on this computer can be any program');
    assert.match(consentPage(page({ client: { name: 'X' } })), /<p class="notice wait">/);
  });

  it('has the icons of the console', () => {
    for (const [name, paths] of Object.entries(ICONS))
      assert.equal(Object.entries(CONSOLE_ICONS).find(([one]) => one === name)?.[1], paths, name);
  });

  it('has the labels that tests and guides quote', () => {
    const html = consentPage(page()).replace(/<svg.*?<\/svg>|<\/?b>/g, '');
    for (const label of ['Email', 'Password', 'Read only', 'Agent name', 'Role', 'Workspace'])
      assert.match(html, new RegExp(`<label for="[a-z-]+">${label}</label>`));
    for (const button of ['Sign in', 'Allow', 'Cancel', 'Email me a sign-in link', 'Use another account'])
      assert.match(html, new RegExp(`<button[^>]*>${button}</button>`));
  });

  it('offers the sample people only if there are some', () => {
    const people = [{ displayName: 'Ada Person', email: 'ada@example.com', password: 'secret' }];
    assert.match(consentPage(page({ people })), /Demo accounts\..*Continue as Ada Person/s);
    assert.doesNotMatch(consentPage(page()), /Demo accounts/);
  });

  it('offers the sign-in with Google only if Google is configured', () => {
    const { settings } = page();
    assert.doesNotMatch(consentPage(page()), /id="google"/);
    assert.match(consentPage(page({ settings: { ...settings, google: true } })), /Continue with Google/);
  });

  it('contains no inline event handlers, no inline styles and no other scripts', () => {
    const html = consentPage(page());
    assert.doesNotMatch(html, /\son\w+=|\sstyle=|<style|javascript:/i);
    const scripts = html.match(/<script[^>]*>/g);
    assert.deepEqual(scripts, [
      '<script src="https:&#x2F;&#x2F;muster.example&#x2F;page.js" defer>',
      '<script type="application/json" id="settings">',
    ]);
  });

  it('passes the URLs of the server and the texts of the page to the script of the page', () => {
    const { settings } = page();
    assert.deepEqual(embeddedIn(consentPage(page({ language: 'ja' }))), { ...settings, texts: TEXTS.ja.script });
  });

  it('escapes hostile texts in the HTML and in the settings of its script', () => {
    const standard = tagsOf(consentPage(page()));
    forAll(hostile, (words) => {
      const { settings } = page();
      const html = consentPage(
        page({
          client: { name: words, host: words },
          redirect: { host: words, isLocal: false },
          settings: { ...settings, continueUrl: words },
        }),
      );
      assert.deepEqual(tagsOf(html), standard);
      assert.equal(embeddedIn(html).continueUrl, words);
      assert.doesNotMatch(html, /[\u2028\u2029]/);
      const [visible = ''] = html.split('<script type=');
      assert.doesNotMatch(visible, /[\u202a-\u202e\u2066-\u2069]/);
    });
  });

  it('shows the name of an app without invisible characters', () => {
    const name = '<b>{{name}} {{{embedded}}}</b> \u202eevil\u0000\u200b';
    const [, output] = /<h1><bdi>(.*?)<\/bdi>/.exec(consentPage(page({ client: { name } }))) ?? [];
    assert.equal(shown(output ?? ''), '<b>{{name}} {{{embedded}}}</b> evil');
  });

  it('describes every toolset in every language', () => {
    for (const language of LANGUAGES)
      for (const { name } of toolsets)
        assert.ok(Object.hasOwn(TEXTS[language].script.toolsets, name), `${language}: ${name}`);
  });
});

describe('sign-in page that reports a problem', () => {
  const problems = Object.keys(TEXTS.en.problems).filter((name): name is Problem => !['detail', 'back'].includes(name));
  const style = 'https://muster.example/page.css';

  it('describes every problem in every supported language', () => {
    assert.equal(problems.length, 8);
    for (const language of LANGUAGES) {
      for (const problem of problems) {
        const html = problemPage({ language, style, problem });
        assert.match(html, new RegExp(`<html lang="${language}">`));
        assert.ok(shown(html).includes(TEXTS[language].problems[problem].heading));
        assert.doesNotMatch(html, /<script|<a /);
      }
    }
  });

  it('mentions API keys in every language if the app cannot be verified', () => {
    for (const language of LANGUAGES)
      assert.match(
        shown(problemPage({ language, style, problem: 'client_unreachable' })),
        /Authorization: Bearer \S+/,
        language,
      );
  });

  it('shows the details in English, and has a link back to the client', () => {
    const back = { url: 'https://claude.ai/callback?error=x&state="y"', host: 'claude.ai' };
    const html = problemPage({ language: 'de', style, problem: 'bad_request', detail: '<i>code_challenge</i>', back });
    assert.match(shown(html), /<i>code_challenge<\/i>/);
    assert.match(html, /<p lang="en" class="mono">/);
    assert.match(shown(html), /Zurück zu claude\.ai/);
    assert.equal(html.match(/<a [^>]*>/g)?.length, 1);
  });

  it('has links only to addresses of web pages', () => {
    for (const url of ['javascript:alert(1)', ' data:text/html,x', 'claude.ai', 'vbscript:x'])
      assert.doesNotMatch(problemPage({ language: 'en', style, problem: 'expired', back: { url, host: 'x' } }), /<a /);
  });
});

describe('texts of the sign-in pages', () => {
  const leaves = (texts: object, path = ''): readonly (readonly [string, string])[] =>
    Object.entries(texts).flatMap(([key, value]) =>
      typeof value === 'string' ? [[`${path}${key}`, value] as const] : leaves(value, `${path}${key}.`),
    );
  const gaps = (text: string) => text.match(/\{\w+\}/g) ?? [];

  it('have the same keys and the same placeholders in every language', () => {
    const english = leaves(TEXTS.en);
    for (const language of LANGUAGES) {
      const own = new Map(leaves(TEXTS[language]));
      assert.deepEqual([...own.keys()].sort(), english.map(([key]) => key).sort(), language);
      for (const [key, text] of english) {
        assert.deepEqual(gaps(own.get(key) ?? ''), gaps(text), `${language}: ${key}`);
        assert.notEqual(own.get(key)?.trim(), '');
      }
    }
  });

  it('are filled only once, so that placeholders within a value are not filled', () =>
    assert.equal(fill('{a} and {b} {c}', { a: '{b}', b: '$&' }), '{b} and $& {c}'));
});

describe('languageOf', () => {
  const wishes: Readonly<Record<string, string>> = {
    '': 'en',
    de: 'de',
    'pt-BR': 'pt',
    'zh-Hant-TW': 'zh',
    'FR-ca': 'fr',
    'it, ja;q=0.5': 'ja',
    'de;q=0.3, es;q=0.8, en;q=0.5': 'es',
    'fr;q=0, de;q=0.1': 'de',
    'it,nl': 'en',
    '*': 'en',
    '*;q=0.5, zh;q=0.4': 'en',
    'ja ; q = 0.7 , de;q=0.6': 'ja',
    'de;q=2, fr;q=0.9': 'fr',
    ';;;,,q=1,=': 'en',
    'deutsch, es': 'es',
    constructor: 'en',
  };

  it('returns the supported language that the header Accept-Language prefers', () => {
    for (const [header, language] of Object.entries(wishes)) assert.equal(languageOf(header), language, header);
    assert.equal(languageOf(undefined), 'en');
  });

  it('returns a supported language for any header of any length', () => {
    forAll(fc.string({ unit: 'binary' }), (header) => LANGUAGES.includes(languageOf(header)));
    assert.equal(languageOf(`de,${'a;q=0.1,'.repeat(1_000_000)}`), 'de');
    assert.equal(languageOf(`${' '.repeat(1_000_000)}de`), 'en');
  });
});

describe('isFollowed', () => {
  it('returns true only for web pages, for programs on this computer and for Cursor', () => {
    for (const url of ['https://claude.ai/x', 'http://127.0.0.1:1/x', 'cursor://anysphere.cursor-mcp/x'])
      assert.ok(isFollowed(url), url);
    for (const url of ['javascript:alert(1)', 'data:,x', 'file:///etc/passwd', '/x', '', 'java\nscript:alert(1)'])
      assert.ok(!isFollowed(url), url);
  });
});
