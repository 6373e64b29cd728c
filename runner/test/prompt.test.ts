/** Checks prompts with the regular expressions with which the real programs find commands and references. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { forAll } from '../../test/support/properties.ts';
import type { ClaimedTask, CodingTool } from '../src/hub/hub.ts';
import { promptFor } from '../src/task/prompt.ts';
import { taskOf } from './support/localHub.ts';

const NOTE = /\nIn this text, a backslash before an at sign is not part of the text\.\n$/;

/** Regular expressions of Claude Code 2.1.197 for files, resources and agents. */
const CLAUDE = [
  /(^|[\s\u3002\u3001\uFF1F\uFF01])@"([^"]+)"/,
  /(^|[\s\u3002\u3001\uFF1F\uFF01])@([^\s]+)\b/,
  /(^|[\s\u3002\u3001\uFF1F\uFF01])@(agent-[\w:.@-]+)/,
];
/** Regular expression of Gemini CLI 0.61.0 for files. */
const GEMINI = [/(?<!\\)@(?:(?:"(?:[^"]*)")|(?:\\.|[^ \t\n\r,;!?()[\]{}.]|\.(?!$|[ \t\n\r])))+/];
const REFERENCES: Readonly<Record<CodingTool, readonly RegExp[]>> = { CLAUDECODE: CLAUDE, GEMINI };

const taskWith = (texts: Partial<ClaimedTask>): ClaimedTask => ({ ...taskOf('task-1'), ...texts });

describe('the prompt for a coding agent', () => {
  for (const tool of ['CLAUDECODE', 'GEMINI'] as const)
    it(`contains no command and no reference in the syntax of ${tool} for any text of a task`, () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc
          .array(fc.constantFrom('/', '!', '#', '@', '-', '\\', '"', ' ', '\n', '\u3002', '~/.ssh/id', 'a.ts', 'ada'))
          .map((parts) => parts.join('')),
      );
      forAll(text, text, text, text, fc.option(text, { nil: undefined }), (...texts) => {
        const [description, instructions, branch, output, acceptance] = texts;
        const messages = [{ id: 'm', from: output, text: output, sent_at: '' }];
        const failure = { class: output, message: output };
        const prompt = promptFor(
          taskWith({ tool, description, instructions, branch, messages, previous: { failure } }),
          acceptance,
        );
        assert.ok(prompt.startsWith('Task: '));
        for (const reference of REFERENCES[tool]) assert.doesNotMatch(prompt, reference);
      });
    });

  it("differs from the task's text only by backslashes before references and a note about them", () => {
    const description = '/login page';
    const instructions = '!ls\n#note\n- item\nSee @src/a.ts and write to ada@example.com.';
    const prompt = promptFor(taskWith({ description, instructions }), undefined);
    assert.ok(prompt.startsWith(`Task: ${description}\n\n!ls\n#note\n- item\nSee \\@src/a.ts and`), prompt);
    assert.ok(prompt.includes('ada@example.com'));
    assert.match(prompt, NOTE);
    assert.doesNotMatch(promptFor(taskWith({ instructions: 'ada@example.com' }), undefined), NOTE);
  });
});
