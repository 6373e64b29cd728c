import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import type { EndedOutcome } from '../rules/todos.ts';
import { defineTool, following, occurrenceShape, taskId, writing } from './todoAnswers.ts';

function answer({ todo, next }: EndedOutcome) {
  const { sentence, ...rest } = following(next);
  return { success: true, message: `Task '${todo.title}' deleted.${sentence}`, ...rest };
}

export const deleteTask = defineTool({
  name: 'delete_task',
  title: 'Delete a to-do',
  description:
    'Deletes a to-do for good. If it repeats, that skips one occurrence; todo.delete_recurring_task ends them all.',
  details:
    'Its reminder goes with it. Of a recurring task the next occurrence is created. Its history stays.',
  input: z.strictObject({ task_id: taskId }),
  output: partial({ success: z.boolean(), message: z.string(), next_occurrence: occurrenceShape }),
  ...writing({ destructiveHint: true, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001' },
  answer,
  handler: ({ services, principal, recordAnswer }, { task_id }) =>
    services.todos.delete(principal.owner_uid, task_id, recordAnswer),
});
