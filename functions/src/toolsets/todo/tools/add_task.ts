import { z } from 'zod';
import { partOf } from '../../../graph/rules/graphNode.ts';
import type { Todo } from '../rules/todo.ts';
import * as shapes from './todoAnswers.ts';
import { defineTool } from './todoAnswers.ts';

export const addTask = defineTool({
  name: 'add_task',
  title: 'Add a to-do',
  description:
    'Adds a to-do. With a due date it gets a reminder, usually an hour before. What repeats: todo.create_recurring_task.',
  details: 'The reminder comes an hour before unless preferences say otherwise.',
  rare: ['part_of'],
  input: z.strictObject({
    title: shapes.title('Task title'),
    description: shapes.description('Task description'),
    due_date: shapes.date('Due, in UTC').optional(),
    priority: shapes.priority('MEDIUM by default').optional(),
    tags: shapes.fewTags('Tags').optional(),
    part_of: partOf,
  }),
  output: shapes.writtenShape,
  ...shapes.writing({ destructiveHint: false, idempotentHint: false }),
  example: {
    title: 'Finish presentation',
    priority: 'HIGH',
    due_date: '2099-02-11T17:00:00Z',
    tags: ['work', 'urgent'],
  },
  answer: (todo: Todo) => shapes.writtenAnswer(todo, `Task '${todo.title}' added.`),
  handler: ({ services, principal, workspace, recordAnswer }, { due_date, part_of, ...texts }) => {
    const link = part_of && { link: { part_of: part_of, principal, workspace } };
    const draft = { ...texts, due_date: shapes.dateOf(due_date), ...link };
    return services.todos.add(principal.owner_uid, draft, recordAnswer);
  },
});
