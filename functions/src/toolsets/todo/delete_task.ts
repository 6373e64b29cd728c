import { z } from 'zod';
import type { EndedOutcome } from '../../domain/todos/service.ts';
import { defineTool } from '../../mcp/tool.ts';
import { writingOwner } from './owner.ts';
import { occurrenceAnswer, occurrenceShape, taskId, writing } from './shapes.ts';

function answer({ todo, next }: EndedOutcome) {
  const following =
    next?.dueDate === undefined ? '' : ` Next occurrence created for ${next.dueDate.toISOString()}`;
  return {
    success: true,
    message: `Task '${todo.title}' deleted.${following}`,
    ...(next && { next_occurrence: occurrenceAnswer(next) }),
  };
}

export const deleteTask = defineTool({
  name: 'delete_task',
  title: 'Delete a to-do',
  description:
    'Delete a task permanently, with its reminder. Of a recurring task this skips one occurrence and the next is created; delete_recurring_task ends them all. Its history stays.',
  input: z.strictObject({ task_id: taskId }),
  output: z.object({ success: z.boolean(), message: z.string(), next_occurrence: occurrenceShape }).partial(),
  annotations: { ...writing, destructiveHint: true, idempotentHint: true },
  role: 'viewer',
  example: { task_id: 'todo-xxx-001' },
  handler: async ({ services, principal, operation }, { task_id }) =>
    answer(
      await services.todos.delete(writingOwner(principal), task_id, (outcome) =>
        operation.settle(answer(outcome)),
      ),
    ),
});
