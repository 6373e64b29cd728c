/** The entries by which a search finds a task. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { taskWords } from '../../../functions/src/toolsets/coordination/rules/task.ts';
import { taskSearchWord } from '../../../functions/src/toolsets/coordination/rules/taskSearch.ts';
import { forAll } from '../../support/properties.ts';

const ID = 'task-mabc12345abcdef-001';

const finds = (search: string, description: string, id = ID): boolean => {
  const word = taskSearchWord(search);
  return word !== undefined && taskWords({ id, description }).includes(word);
};

describe('search of tasks', () => {
  it('finds a task by the beginning of a word of its first line, and ignores case and accents', () => {
    const description = 'Fix the Café sign-in for readFile\nSecret details';
    for (const search of ['fi', 'FIX', 'cafe', 'Café', 'sign', 'sign-in', 'file', 'the caf', 'readFi'])
      assert.ok(finds(search, description), search);
    for (const search of ['f', 'ix', 'secret', 'signs', '', '-'])
      assert.equal(finds(search, description), false, search);
  });

  it('finds a task by its id, and by a word that is similar to an id', () => {
    for (const search of [ID, ` ${ID.toUpperCase()} `]) assert.ok(finds(search, 'Work'), search);
    assert.equal(finds('task-other12345abcde-001', 'Work'), false);
    assert.ok(finds('task-oriented', 'Task-oriented work'));
  });

  it('looks up the word that distinguishes a task: one with a digit, or else the longest', () => {
    assert.equal(taskSearchWord('move customer 397'), '397');
    assert.equal(taskSearchWord('move customer 3'), 'customer');
  });

  it('stores a limited number of entries for every title, and finds its first word', () =>
    forAll(fc.array(fc.string({ minLength: 2, maxLength: 20, unit: 'grapheme-ascii' })), (parts) => {
      const description = ['beginning', ...parts].join(' ');
      assert.ok(taskWords({ id: ID, description }).length <= 80);
      assert.ok(finds('beginning', description));
    }));
});
