import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { defineTool } from '../../../mcp/tool.ts';
import type { EditedOutcome } from '../rules/todos.ts';
import {
  clearableDate,
  clearableDescription,
  dateOf,
  editAnswer,
  fewTags,
  priority,
  taskId,
  title,
  writing,
  writingOwner,
  writtenShape,
} from './shapes.ts';

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Change a to-do',
  description:
    'Changes fields of a to-do; what is left out stays, null removes. Of a repeating one it changes only this occurrence.',
  input: z.strictObject({
    task_id: taskId,
    title: title('New title').optional(),
    description: clearableDescription,
    due_date: clearableDate('null removes it and the reminder').optional(),
    priority: priority('New priority').optional(),
    tags: fewTags('Replace the old tags').optional(),
  }),
  output: writtenShape,
  annotations: { ...writing, destructiveHint: true, idempotentHint: true },
  role: 'viewer',
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  answer: (outcome: EditedOutcome) => editAnswer(outcome, 'Task updated.'),
  handler: async ({ services, principal, recordAnswer }, { task_id, due_date, ...fields }) => {
    const edit = { ...fields, dueDate: dateOf(due_date) };
    if (Object.values(edit).every((value) => value === undefined)) throw nothingToChange();
    return services.todos.edit(writingOwner(principal), task_id, edit, recordAnswer);
  },
});

function nothingToChange(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'There is nothing to change.', {
    reason: 'NOTHING_TO_CHANGE',
    suggestion: 'Give at least one of title, description, due_date, priority and tags.',
  });
}
