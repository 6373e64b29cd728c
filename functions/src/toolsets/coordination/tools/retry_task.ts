import { z } from 'zod';
import type { Revived } from '../rules/levers.ts';
import { defineTool, some, taskAnswer, taskId, taskShape } from './coordinationAnswers.ts';

export const retryTask = defineTool({
  name: 'retry_task',
  title: 'Try a task again',
  description:
    'Puts a task that failed or was cancelled into the queue again: for its creator and leaders. What waits for it can start again.',
  details:
    'with_dependents does so with those that depend on it, directly or not, and have failed or been cancelled too: at most 100 in one call. How it ended before stays in earlier_ends, its tries begin anew, and its former holders are heard no more.',
  input: z.strictObject({
    task_id: taskId,
    with_dependents: z.boolean().default(false).describe('Also those after it that ended so'),
  }),
  output: z.object({
    success: z.boolean(),
    task: taskShape,
    retried_dependents: z.array(z.string()).optional(),
    truncated: z.boolean().optional().describe('There are more: call again for one of those that were left.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-004', with_dependents: true },
  answer: ({ task, dependents, isCut }: Revived) => ({
    success: true,
    task: taskAnswer(task),
    retried_dependents: some(dependents),
    truncated: isCut || undefined,
  }),
  handler: ({ services, principal, recordAnswer }, { task_id, with_dependents }) =>
    services.taskLevers.retry(principal, { taskId: task_id, withDependents: with_dependents }, recordAnswer),
});
