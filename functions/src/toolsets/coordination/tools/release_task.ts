import { z } from 'zod';
import type { Task } from '../rules/task.ts';
import { defineTool, taskAnswer, taskId, taskShape, text } from './coordinationAnswers.ts';

export const releaseTask = defineTool({
  name: 'release_task',
  title: 'Release a task',
  description:
    'Takes a task from its holder, so that others can claim it at once: for its creator and leaders.',
  details: 'What its holder reports still counts until somebody else has claimed it.',
  input: z.strictObject({ task_id: taskId, reason: text('Why, for its holder', 2000).optional() }),
  output: z.object({ success: z.boolean(), task: taskShape }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { task_id: 'task-xxx-002', reason: 'Its agent hangs' },
  answer: (task: Task) => ({ success: true, task: taskAnswer(task) }),
  handler: ({ services, principal, recordAnswer }, { task_id, reason }) =>
    services.taskLevers.release(principal, { taskId: task_id, reason }, recordAnswer),
});
