/** Removal of invisible characters, with the same table for models, terminals and pages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { piecesOf } from '../../../console/ui/textPieces.ts';
import { ConsoleLinks } from '../../../functions/src/kernel/consoleLinks.ts';
import {
  HIDDEN_CHARACTERS,
  isVisible,
  oneLine,
  withoutHidden,
} from '../../../functions/src/kernel/hiddenCharacters.ts';
import { terminalText } from '../../../functions/src/kernel/text.ts';
import { shownName } from '../../../functions/src/signin/rules/clients.ts';
import { plainText } from '../../../functions/src/toolsets/github/rules/text.ts';
import { notificationOf } from '../../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import { screenOf } from '../../../packages/muster/src/status/screen.ts';
import { clean } from '../../../runner/src/text.ts';
import { forAll } from '../../support/properties.ts';

const range = (first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));

const REMOVED: Readonly<Record<string, readonly string[]>> = {
  'Unicode tags': range(0xe0000, 0xe007f),
  'directional formatting': ['\u061c', '\u200e', '\u200f', ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
  'deprecated formatting': range(0x206a, 0x206f),
  'interlinear annotation': range(0xfff9, 0xfffb),
  'characters without a width': ['\u00ad', '\u034f', '\u180e', '\u200b', '\u2060', '\u2063', '\ufeff'],
  joiners: ['\u200c', '\u200d'],
  'variation selectors': [...range(0xfe00, 0xfe0d), ...range(0xe0100, 0xe01ef)],
  fillers: ['\u115f', '\u1160', '\u3164', '\uffa0', '\u17b4', '\u17b5'],
  controls: [...range(0, 8), ...range(0xb, 0x1f), ...range(0x7f, 0x9f)],
};

const KEPT = {
  'emoji sequences': ['👩‍👩‍👧‍👦', '👨🏽‍💻', '🏳️‍🌈', '❤️‍🔥'],
  'emoji and text presentation': ['❤️', '☺︎', '1️⃣'],
  Persian: ['می‌خواهم', 'کتاب‌ها'],
  'Indic scripts': ['क्‍ष', 'ශ්‍රී', 'র‍্যাব', 'ന്‍'],
  'variants of Han': ['葛\u{e0100}飾', '﨑'],
  Mongolian: ['ᠠ᠋'],
  'marks, tabs and lines': ['é', 'e\u0301', 'a\tb\nc', 'กิน', 'שָׁלוֹם'],
};

/** Returns the text as the plugin shows it. Reads the plugin's pattern, because it cannot import the table. */
function plugin(text: string): string {
  const source = readFileSync(new URL('../../../plugins/muster/scripts/waking.mjs', import.meta.url), 'utf8');
  const [, pattern = ''] = /text\.replace\(\/(.+?)\/gu, ' '\)/.exec(source) ?? [];
  return text.replace(new RegExp(pattern, 'gu'), ' ');
}

const status = (goal: string): string =>
  screenOf(
    {
      goal,
      progress: { percent: 0, total: 0, available: 0, claimed: 0, in_progress: 0, done: 0, failed: 0 },
      doing: [],
      waiting: [],
      questions: [],
    },
    200,
  );

const notified = (title: string): string => {
  const event = { id: 'e', type: 'reminder', taskId: 't', userId: 'u', timestamp: new Date(0) } as const;
  const reminder = { ...event, before: null, after: { task_title: title }, changes: [] };
  return notificationOf(reminder, new ConsoleLinks('https://console.example'))?.title ?? '';
};

/** Places that show or store texts of agents or people, and whether letters and emoji keep their joiners there. */
const PLACES: Readonly<Record<string, { readonly show: (text: string) => string; readonly keeps: boolean }>> = {
  'stored for models': { show: withoutHidden, keeps: true },
  'from GitHub': { show: (text) => plainText(text, 1000), keeps: true },
  'on one line': { show: oneLine, keeps: true },
  'in a notification': { show: notified, keeps: true },
  'in a terminal': { show: terminalText, keeps: true },
  'in the terminal of muster status': { show: status, keeps: true },
  'by the runner': { show: clean, keeps: true },
  'in the console': {
    show: (text) =>
      piecesOf(text)
        .map((piece) => (piece.kind === 'unseen' ? '' : piece.text))
        .join(''),
    keeps: true,
  },
  'on the sign-in page': { show: shownName, keeps: false },
  'by the plugin': { show: plugin, keeps: false },
};

describe('invisible characters', () => {
  for (const [place, { show, keeps }] of Object.entries(PLACES)) {
    it(`are not shown or stored: ${place}`, () => {
      for (const [kind, characters] of Object.entries(REMOVED))
        for (const character of characters)
          assert.ok(!show(`ab${character}${character}cd`).includes(character), `${kind}: ${codePoints(character)}`);
    });

    const kept = keeps ? Object.values(KEPT).flat() : [];
    // Most places show only a single line.
    const lines = kept.filter((text) => show === withoutHidden || !/[\t\n]/.test(text));
    if (keeps)
      it(`are kept if letters or emoji need them: ${place}`, () => {
        for (const text of lines) assert.ok(show(text).includes(text), text);
      });
  }

  it('are all removed in one pass, and all other characters are kept', () => {
    const hidden = fc.constantFrom(...Object.values(REMOVED).flat(), '\ufe0e', '\ufe0f');
    const shown = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 3 }),
      fc.constantFrom(...Object.values(KEPT).flat()),
    );
    forAll(fc.array(fc.oneof(hidden, shown), { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      const plain = withoutHidden(text);
      assert.equal(withoutHidden(plain), plain);
      assert.equal(text.replace(HIDDEN_CHARACTERS, ''), plain);
      assert.equal(oneLine(oneLine(text)), oneLine(text));
    });
    const words = fc.string({ unit: fc.constantFrom(...'aZé 日本कि한ا😀1.-\n\t'), maxLength: 40 });
    forAll(words, (text) => assert.equal(withoutHidden(text), text));
  });

  it('cannot carry a hidden message after a letter or an emoji', () => {
    const bytes = [...'ignore all'].map((letter) => letter.codePointAt(0) ?? 0);
    const ways = [
      bytes.map((byte) => String.fromCodePoint(0xe0000 + byte)),
      bytes.map((byte) => String.fromCodePoint(0xe0100 + byte)),
      bytes.map((byte) => (byte % 2 ? '\u200b' : '\u200c')),
      bytes.map((byte) => (byte % 2 ? '\ufe0e' : '\ufe0f')),
      bytes.map((byte) => (byte % 2 ? '\u200d' : '\u200c')),
    ];
    for (const base of ['a', '😀', '葛', 'م', 'क'])
      for (const way of ways) assert.ok([...withoutHidden(`${base}${way.join('')}`)].length <= 2);
  });

  it('are found quickly in a long text', () => {
    for (const part of ['\u200d', '\ufe0f', '葛\u{e0100}', 'a', '\u202e', '👩‍']) {
      const before = process.cpuUsage();
      withoutHidden(part.repeat(100_000));
      assert.ok(process.cpuUsage(before).user < 1_000_000, codePoints(part));
    }
  });
});

describe('isVisible', () => {
  it('returns true for letters, letters with marks, signs and emoji, and false for blank text', () => {
    for (const text of ['a', 'é', '。', '?', '😀', '会', 'ᄒ', '1', '\u200bx', '❤️']) assert.ok(isVisible(text), text);
    const blank = [...Object.values(REMOVED).flat(), ' ', '\t', '\n', '\u00a0', '\u3000', '\u2800', '\ufe0f', '\u2028'];
    forAll(fc.array(fc.constantFrom(...blank), { maxLength: 10 }), (parts) => assert.ok(!isVisible(parts.join(''))));
    for (const character of blank) assert.ok(!isVisible(character), codePoints(character));
  });
});

function codePoints(text: string): string {
  return [...text].map((one) => `U+${(one.codePointAt(0) ?? 0).toString(16)}`).join(' ');
}
