import { z } from 'zod';
import type { EditedOutcome } from '../rules/todos.ts';
import { dateOf, dateOrNull, defineTool, editAnswer, taskId, writing, writtenShape } from './todoAnswers.ts';

export const setTaskDueDate = defineTool({
  name: 'set_task_due_date',
  title: "Set a to-do's due date",
  description: 'Sets when a to-do is due; its reminder moves along, and null removes both.',
  audience: 'older clients',
  input: z.strictObject({ task_id: taskId, due_date: dateOrNull('null removes it') }),
  output: writtenShape,
  ...writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', due_date: '2099-02-11T17:00:00Z' },
  answer: (outcome: EditedOutcome, { due_date }) => {
    const dueDate = dateOf(due_date);
    return editAnswer(outcome, dueDate ? `Due date set to ${dueDate.toISOString()}.` : 'Due date removed.');
  },
  handler: ({ services, principal, recordAnswer }, { task_id, due_date }) =>
    services.todos.edit(principal.owner_uid, task_id, { due_date: dateOf(due_date) }, recordAnswer),
});
