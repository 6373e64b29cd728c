import { z } from 'zod';
import type { Todo } from '../../domain/todos/todo.ts';
import { defineTool } from '../../mcp/tool.ts';
import { writingOwner } from './owner.ts';
import {
  date,
  dateOf,
  description,
  fewTags,
  priority,
  title,
  writing,
  writtenAnswer,
  writtenShape,
} from './shapes.ts';

const answer = (todo: Todo) => writtenAnswer(todo, `Task '${todo.title}' added.`);

export const addTask = defineTool({
  name: 'add_task',
  title: 'Add a to-do',
  description:
    'Create a new task with optional due date, priority, and tags. With a due date it gets a reminder, an hour before unless preferences say otherwise.',
  input: z.strictObject({
    title: title('Task title (required)'),
    description: description('Task description (optional)'),
    due_date: date('Due date in ISO 8601 format (UTC, optional)').optional(),
    priority: priority('Task priority level (default: MEDIUM)').optional(),
    tags: fewTags("List of tags (e.g., ['work', 'urgent'])").optional(),
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
  handler: async ({ services, principal, operation }, { due_date, ...draft }) =>
    answer(
      await services.todos.add(writingOwner(principal), { ...draft, dueDate: dateOf(due_date) }, (todo) =>
        operation.settle(answer(todo)),
      ),
    ),
});
