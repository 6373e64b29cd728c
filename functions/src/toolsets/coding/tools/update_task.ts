import { z } from 'zod';
import { text } from '../../coordination/index.ts';
import type { Seen } from '../rules/task.ts';
import {
  answerShape,
  codingTaskAnswer,
  defineTool,
  success,
  taskId,
  taskShape,
  writing,
} from './codingAnswers.ts';

export const updateTask = defineTool({
  name: 'update_task',
  title: 'Update a coding task',
  description:
    'Sets the status of a coding task, or adds a line to its log. in_progress makes a free task your own, to do without a runner.',
  details:
    'Its runner, whoever created it and leaders may. in_progress of a task that a runner has claimed is noted. completed and failed end the task, as coding.end_task does; a status never goes back.',
  input: z.strictObject({
    taskId,
    status: z.enum(['in_progress', 'completed', 'failed']).optional().describe('New status'),
    log: text('Line to add', 10_000).optional(),
  }),
  output: answerShape(z.object({ task: taskShape })),
  annotations: { ...writing, destructiveHint: true, idempotentHint: false },
  loosens: [],
  role: 'worker',
  example: { taskId: 'task-000abc-001', log: 'The tests of the login endpoint pass.' },
  answer: ({ task, now }: Seen) => success('Task updated.', { task: codingTaskAnswer(task, now) }),
  handler: ({ services, workspace, principal, recordAnswer }, change) =>
    services.codingChanges.update(principal, { workspace, ...change }, recordAnswer),
});
