/** Screen that the command `muster status` shows. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eastAsianWidth } from 'get-east-asian-width';
import { cut, padded, widthOf } from '../../../packages/muster/src/status/columns.ts';
import { screenOf } from '../../../packages/muster/src/status/screen.ts';
import type { Snapshot } from '../../../packages/muster/src/status/snapshot.ts';
import { forAll } from '../../support/properties.ts';

const ROCKET = '\u{1f680}';
const THUMB = '\u{1f44d}\u{1f3fd}';
const FAMILY = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}';
const progress = { percent: 50, total: 2, available: 0, claimed: 0, in_progress: 1, done: 1, failed: 0 };
const nothing: Snapshot = { goal: '', progress, doing: [], waiting: [], questions: [] };

const doing = (agent: string, description: string) => ({
  agent,
  description,
  task: 'task-2',
  status: 'in_progress',
  since: '',
});

/** Characters that take up zero, one or two columns of a terminal. */
const character = fc.constantFrom(
  'a',
  '漢',
  '，',
  'ｱ',
  '한',
  'e\u0301',
  ROCKET,
  FAMILY,
  '\u{1f1e9}\u{1f1ea}',
  '\u200b',
  '\u{20000}',
);
const text = fc.oneof(fc.string({ unit: character }), fc.string({ unit: 'binary' }));

describe('screen of muster status', () => {
  it('truncates its lines to the width of the terminal, and removes control characters', () => {
    const shown = screenOf({ ...nothing, goal: 'Ship\u001b[2J it\nnow', doing: [doing('ada', 'x'.repeat(200))] }, 60);
    assert.ok(shown.includes('Goal: Ship [2J it now\nTasks: 1 of 2 done (50 %)\n'), shown);
    assert.ok(shown.split('\n').every((line) => line.length <= 60));
  });

  it('is never wider than the terminal and has no control characters, for any text', () =>
    forAll(text, text, text, fc.nat(100), (goal, agent, description, width) => {
      const questions = [{ id: 'q', question: description, at: '' }];
      const waiting = [{ task: 't', description, blocked: false, stuck: undefined }];
      const shown = screenOf({ ...nothing, goal, doing: [doing(agent, description)], waiting, questions }, width);
      for (const line of shown.split('\n')) assert.ok(widthOf(line) <= width, JSON.stringify(line));
      assert.ok(shown.isWellFormed());
      assert.doesNotMatch(shown.replaceAll('\n', ''), /\p{Cc}/u);
    }));

  it('shows a result that is being verified without a holder', () => {
    const verifying = { ...doing('', 'Draw'), agent: undefined, status: 'verifying' };
    assert.match(screenOf({ ...nothing, doing: [verifying] }, 80), /^ {2}- {2}verifying {2}task-2 {2}Draw$/m);
  });

  it('fits Chinese text into 80 columns', () => {
    const shown = screenOf({ ...nothing, goal: '测'.repeat(100), doing: [doing('代理', '测'.repeat(100))] }, 80);
    const [goal = ''] = shown.split('\n');
    assert.equal(goal, `Goal: ${'测'.repeat(37)}`);
    assert.ok(
      shown
        .split('\n')
        .every((line) => [...line].reduce((sum, one) => sum + eastAsianWidth(one.codePointAt(0) ?? 0), 0) <= 80),
    );
  });

  it('aligns the columns of a table after cells with wide characters', () => {
    const agents = ['ada', '代理人', ROCKET, THUMB, 'e\u0301ve', '，，'];
    const shown = screenOf({ ...nothing, doing: agents.map((agent) => doing(agent, 'x')) }, 80);
    const rows = shown.split('\n').filter((line) => line.includes('in progress'));
    assert.equal(rows.length, agents.length);
    assert.deepEqual([...new Set(rows.map((row) => widthOf(row.slice(0, row.indexOf('in progress')))))], [2 + 6 + 2]);
  });

  it('truncates a text before a whole emoji if the emoji does not fit', () => {
    for (const [emoji, width, count] of [
      [ROCKET, 20, 7],
      [ROCKET, 21, 7],
      [THUMB, 10, 2],
      ['e\u0301', 9, 3],
    ] as const) {
      const shown = screenOf({ ...nothing, goal: emoji.repeat(60) }, width);
      assert.equal(shown.split('\n')[0], `Goal: ${emoji.repeat(count)}`);
    }
  });
});

describe('text that is truncated to a number of columns', () => {
  it('is its longest prefix that fits into these columns', () =>
    forAll(fc.string({ unit: character }), fc.nat(30), (whole, columns) => {
      const kept = cut(whole, columns);
      assert.ok(whole.startsWith(kept));
      assert.ok(widthOf(kept) <= columns);
      if (kept !== whole) assert.ok(columns - widthOf(kept) < 2);
      assert.equal(widthOf(padded(kept, columns)), columns);
    }));
});
