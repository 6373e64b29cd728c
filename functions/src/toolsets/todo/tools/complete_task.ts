import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import { todoAnswer } from '../rules/todo.ts';
import type { EndedOutcome } from '../rules/todos.ts';
import { defineTool, following, occurrenceShape, taskId, taskShape, writing } from './todoAnswers.ts';

function answer({ todo, next }: EndedOutcome) {
  const { sentence, ...rest } = following(next);
  return { success: true, task: todoAnswer(todo), message: `Task completed!${sentence}`, ...rest };
}

export const completeTask = defineTool({
  name: 'complete_task',
  title: 'Complete a to-do',
  description: 'Completes a to-do. If it repeats, the next occurrence is created.',
  details: 'Its reminder goes. A task that is completed already stays as it is, and the answer says so.',
  input: z.strictObject({ task_id: taskId }),
  output: partial({
    success: z.boolean(),
    task: taskShape,
    message: z.string(),
    next_occurrence: occurrenceShape.describe('If task is recurring, contains next occurrence details'),
  }),
  ...writing({ destructiveHint: false, idempotentHint: true }),
  example: { task_id: 'todo-xxx-001' },
  answer,
  handler: ({ services, principal, recordAnswer }, { task_id }) =>
    services.todos.complete(principal.owner_uid, task_id, recordAnswer),
});
