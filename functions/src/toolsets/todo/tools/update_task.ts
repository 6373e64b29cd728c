import { z } from 'zod';
import { clearArgument, clearing } from '../../../mcp/tool.ts';
import type { EditedOutcome } from '../rules/todos.ts';
import * as shapes from './todoAnswers.ts';
import { defineTool } from './todoAnswers.ts';

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Change a to-do',
  description:
    'Changes fields of a to-do; what is left out stays, clear removes. Of a repeating one it changes only this occurrence.',
  input: z.strictObject({
    task_id: shapes.taskId,
    title: shapes.title('New title').optional(),
    description: shapes.description('New description'),
    due_date: shapes.date('New due date').optional(),
    priority: shapes.priority('New priority').optional(),
    tags: shapes.fewTags('Replace the old tags').optional(),
    clear: clearArgument('description', 'due_date'),
  }),
  output: shapes.writtenShape,
  ...shapes.writing({ destructiveHint: true, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001', priority: 'HIGH' },
  answer: (outcome: EditedOutcome) => shapes.editAnswer(outcome, 'Task updated.'),
  handler: async ({ services, principal, recordAnswer }, { task_id, clear, ...fields }) => {
    const { due_date, description, ...others } = fields;
    const changed = clearing(clear);
    const edit = {
      ...others,
      description: changed('description', description),
      due_date: changed('due_date', shapes.dateOf(due_date)),
    };
    shapes.requireChange(edit, 'title, description, due_date, priority, tags and clear');
    return services.todos.edit(principal.owner_uid, task_id, edit, recordAnswer);
  },
});
