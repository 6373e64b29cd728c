import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { defineTool } from '../../../mcp/tool.ts';
import {
  clearableDate,
  clearableDescription,
  dateOf,
  edited,
  fewTags,
  priority,
  taskId,
  title,
  writing,
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
  handler: (context, { task_id, due_date, ...edit }) => {
    if (due_date === undefined && Object.values(edit).every((value) => value === undefined))
      throw nothingToChange();
    return edited(context, task_id, { ...edit, dueDate: dateOf(due_date) }, 'Task updated.');
  },
});

function nothingToChange(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'There is nothing to change.', {
    reason: 'NOTHING_TO_CHANGE',
    suggestion: 'Give at least one of title, description, due_date, priority and tags.',
  });
}
