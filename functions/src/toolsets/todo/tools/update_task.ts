import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { EditedOutcome } from '../rules/todos.ts';
import * as shapes from './shapes.ts';

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Change a to-do',
  description:
    'Changes fields of a to-do; what is left out stays, null removes. Of a repeating one it changes only this occurrence.',
  input: z.strictObject({
    task_id: shapes.taskId,
    title: shapes.title('New title').optional(),
    description: shapes.clearableDescription,
    due_date: shapes.clearableDate('null removes it and the reminder').optional(),
    priority: shapes.priority('New priority').optional(),
    tags: shapes.fewTags('Replace the old tags').optional(),
  }),
  output: shapes.writtenShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  answer: (outcome: EditedOutcome) => shapes.editAnswer(outcome, 'Task updated.'),
  handler: async ({ services, principal, recordAnswer }, { task_id, due_date, ...fields }) => {
    const edit = { ...fields, dueDate: shapes.dateOf(due_date) };
    shapes.requireChange(edit, 'title, description, due_date, priority and tags');
    return services.todos.edit(principal.ownerUid, task_id, edit, recordAnswer);
  },
});
