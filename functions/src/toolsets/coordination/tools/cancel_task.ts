import { z } from 'zod';
import type { Task } from '../rules/task.ts';
import { defineTool, some, taskAnswer, taskId, taskShape, text } from './coordinationAnswers.ts';

export const cancelTask = defineTool({
  name: 'cancel_task',
  title: 'Cancel a task',
  description:
    'Cancels an open task, whoever holds it: for its creator and leaders. Its runner or run stops within seconds; coordination.retry_task undoes it.',
  details:
    'Its holder hears it with the next call. Tasks that depend on it will never start until it is tried again.',
  input: z.strictObject({ task_id: taskId, reason: text('Why, for its holder', 2000).optional() }),
  output: z.object({
    success: z.boolean(),
    task: taskShape,
    blocked_tasks: z.array(z.string()).optional().describe('Tasks that depend on it and will never start.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-002', reason: 'No longer wanted' },
  answer: (task: Task) => ({ success: true, task: taskAnswer(task), blocked_tasks: some(task.dependents) }),
  handler: ({ services, principal, recordAnswer }, { task_id, reason }) =>
    services.taskLevers.cancel(principal, { taskId: task_id, reason }, recordAnswer),
});
