import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { Todo } from '../rules/todo.ts';
import {
  date,
  dateOf,
  description,
  fewTags,
  priority,
  title,
  writing,
  writingOwner,
  writtenAnswer,
  writtenShape,
} from './shapes.ts';

const answer = (todo: Todo) => writtenAnswer(todo, `Task '${todo.title}' added.`);

export const addTask = defineTool({
  name: 'add_task',
  title: 'Add a to-do',
  description:
    'Adds a to-do. With a due date it gets a reminder, usually an hour before. What repeats: todo_create_recurring_task.',
  details: 'The reminder comes an hour before unless preferences say otherwise.',
  input: z.strictObject({
    title: title('Task title'),
    description: description('Task description'),
    due_date: date('Due, in UTC').optional(),
    priority: priority('MEDIUM by default').optional(),
    tags: fewTags('Tags').optional(),
  }),
  output: writtenShape,
  annotations: { ...writing, destructiveHint: false, idempotentHint: false },
  role: 'viewer',
  example: {
    title: 'Finish presentation',
    priority: 'HIGH',
    due_date: '2099-02-11T17:00:00Z',
    tags: ['work', 'urgent'],
  },
  answer,
  handler: ({ services, principal, recordAnswer }, { due_date, ...draft }) =>
    services.todos.add(writingOwner(principal), { ...draft, dueDate: dateOf(due_date) }, recordAnswer),
});
