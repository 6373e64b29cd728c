import assert from 'node:assert/strict';
import fc from 'fast-check';
import { normalizedTodo } from '../../../functions/src/toolsets/todo/rules/repair.ts';
import { PRIORITIES, type Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { todoToDocument } from '../../../functions/src/toolsets/todo/store/todoDocument.ts';
import { description, title } from '../../../functions/src/toolsets/todo/tools/todoResponses.ts';
import { START, sampleTodo } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

/** Texts that the security rules allow. The rules trim only ASCII white space, and limit the number of characters. */
const written = (max: number) =>
  fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.constantFrom('🎉'.repeat(40), '\u200b', '\u3164', '\u3000', ' ', 'x'.repeat(49), 'ß', 'e\u0301', '\u0000'),
      ),
      { maxLength: 20 },
    )
    .map((parts) => [...parts.join('').toWellFormed()].slice(0, max).join(''));

const required = (max: number) => written(max).filter((text) => /[^ \t\n\r\f\v]/.test(text));

const clientWritten = fc.record({
  title: required(500),
  description: fc.option(written(5000), { nil: undefined }),
  tags: fc.array(required(50), { maxLength: 10 }),
  priority: fc.constantFrom(...PRIORITIES),
  completed: fc.boolean(),
  dueDate: fc.option(fc.date({ min: START, max: new Date('9999-12-31'), noInvalidDate: true }), { nil: undefined }),
});

describe('repair of a to-do that a Firebase client has written', () => {
  it('never throws an error, and returns a to-do that the tools accept', () =>
    forAll(clientWritten, ({ description: words, dueDate, ...changes }) => {
      const todo: Todo = sampleTodo({
        ...changes,
        ...(words !== undefined && { description: words }),
        ...(dueDate && { due_date: dueDate }),
      });
      const repaired = normalizedTodo(todo, START);
      assert.ok(repaired.title === 'Untitled' || todo.title.includes(repaired.title));
      if (repaired.title.length <= 500) assert.ok(title('').safeParse(repaired.title).success);
      if ((repaired.description ?? '').length <= 5000)
        assert.ok(description('').safeParse(repaired.description).success);
      assert.ok([...repaired.title].length <= 500);
      for (const tag of repaired.tags) assert.ok([...tag].length <= 50 && tag === tag.trim());
      assert.deepEqual(normalizedTodo(repaired, START), repaired);
      assert.doesNotThrow(() => todoToDocument(repaired));
    }));

  it('keeps a tag that consists of forty emoji, and removes an invisible tag', () => {
    const tag = '🎉'.repeat(40);
    assert.deepEqual(normalizedTodo(sampleTodo({ tags: [tag, '\u200b', '\u3000', tag] }), START).tags, [tag]);
    assert.deepEqual(normalizedTodo(sampleTodo({ tags: ['x'.repeat(60)] }), START).tags, ['x'.repeat(50)]);
  });

  it('replaces an invisible title by the previous title', () => {
    assert.equal(normalizedTodo(sampleTodo({ title: '\u200b' }), START, 'Visa').title, 'Visa');
    assert.equal(normalizedTodo(sampleTodo({ title: '\u3164' }), START).title, 'Untitled');
  });
});
