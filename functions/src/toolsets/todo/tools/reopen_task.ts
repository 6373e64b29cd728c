import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import type { ReopenedOutcome } from '../rules/reopening.ts';
import { todoAnswer } from '../rules/todo.ts';
import { defineTool, taskId, taskShape, writing } from './todoAnswers.ts';

function answer({ todo, next }: ReopenedOutcome) {
  const kept = next?.isWithdrawn === false;
  const more = kept ? ' The occurrence that has followed it stays.' : '';
  return {
    success: true,
    task: todoAnswer(todo),
    message: `Task reopened.${more}`,
    removed_occurrence: next?.isWithdrawn ? next.todo.id : undefined,
    kept_occurrence: kept ? next.todo.id : undefined,
  };
}

export const reopenTask = defineTool({
  name: 'reopen_task',
  title: 'Reopen a to-do',
  description: 'Makes a completed to-do open again, with its reminder.',
  details:
    'Of one that repeats, the occurrence that its completion made goes again, unless it was changed since.',
  input: z.strictObject({ task_id: taskId }),
  output: partial({
    success: z.boolean(),
    task: taskShape,
    message: z.string(),
    removed_occurrence: z.string(),
    kept_occurrence: z.string(),
  }),
  ...writing({ destructiveHint: false, idempotentHint: false }),
  example: { task_id: 'todo-xxx-002' },
  answer,
  handler: ({ services, principal, recordAnswer }, { task_id }) =>
    services.todos.reopen(principal.owner_uid, task_id, recordAnswer),
});
