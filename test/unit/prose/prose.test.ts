/** The prose linter, which enforces docs/style.md. */
import assert from 'node:assert/strict';
import { EXPRESSIONS } from '../../prose/expressions.mjs';
import { commentsAfter, proseOfCode, proseOfMarkdown } from '../../prose/extract.mjs';

const shown = (passages: readonly { kind: string; text: string; line: number }[]): string[] =>
  passages.map(({ kind, text, line }) => `${line} ${kind} ${text}`);

const SOURCE = `
/**
 * First sentence
 * of a comment.
 * @param {string} name - the agent's name
 */
function greet(name) {
  // One comment,
  // two lines.
  throw new Error(\`No agent \${name} here.\` + ' Register it.');
}
const page = 'one'; // not prose: a single word
describe('greet', () => {
  it('returns the \`name\` of an agent', () => {});
});
`;

describe('passages that the prose linter extracts from a file', () => {
  it('are the paragraphs and tags of comments, whole messages and test titles', () =>
    assert.deepEqual(shown(proseOfCode('greet.mjs', SOURCE, { isTest: false })), [
      '3 C First sentence of a comment.',
      "5 C the agent's name",
      '8 C One comment, two lines.',
      '12 C not prose: a single word',
      '10 S No agent `x` here. Register it.',
      '14 T returns the `x` of an agent',
    ]));

  it('include no messages if the file is a test', () => {
    const kinds = proseOfCode('greet.test.ts', SOURCE, { isTest: true }).map(({ kind }) => kind);
    assert.deepEqual([...new Set(kinds)], ['C', 'T']);
  });

  it('are the paragraphs, list items and table cells of a document, without code', () => {
    const document =
      '# Title\n\nA paragraph\nof `code` and [a link](x.md).\n\n- item\n\n```sh\nrun it\n```\n\n| a | b |\n|---|---|\n';
    assert.deepEqual(shown(proseOfMarkdown(document)), [
      '1 D Title',
      '3 D A paragraph of `x` and a link.',
      '6 D item',
      '12 D a',
      '12 D b',
    ]);
  });

  it('are the comments of shell scripts and security rules', () => {
    assert.deepEqual(shown(commentsAfter('#!/bin/sh\n# Two\n# lines.\nls # here\n', '#')), [
      '2 C Two lines.',
      '4 C here',
    ]);
    assert.deepEqual(shown(commentsAfter('allow read; // The owner.\n', '//')), ['1 C The owner.']);
  });
});

describe('expressions that the prose linter rejects', () => {
  const found = (kind: string, text: string): string[] =>
    EXPRESSIONS.filter(({ kinds, pattern }) => kinds.includes(kind) && pattern.test(text)).map(({ id }) => id);

  it('include relative clauses that replace a condition or a noun, even across a line break', () => {
    const [passage] = proseOfMarkdown('It returns null where\nthere is none.\n');
    assert.deepEqual(found('D', passage?.text ?? ''), ['L01', 'L16']);
    assert.deepEqual(found('C', 'What the agent holds.'), ['L24']);
    assert.deepEqual(found('S', 'There is no task.'), ['L42']);
    assert.deepEqual(found('T', 'notifies whoever asked'), ['L02']);
  });

  it('do not occur in plain English', () => {
    const plain = 'Returns the task, or undefined if the agent holds none. Retries a stale commit at most 25 times.';
    assert.deepEqual(found('C', plain), []);
  });
});
