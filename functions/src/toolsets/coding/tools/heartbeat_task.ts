import { z } from 'zod';
import { text } from '../../coordination/index.ts';
import type { Heartbeat } from '../rules/runners.ts';
import { answerShape, defineTool, epoch, stopShape, success, taskId, writing } from './codingAnswers.ts';

export const heartbeatTask = defineTool({
  name: 'heartbeat_task',
  title: 'Heartbeat of a coding task',
  description: 'For runners: renews the lease of a task that you hold, and may move its state on.',
  details:
    'in_progress when the agent works, waiting when the agent is done and its session still alive. Where it answers stop, end the work.',
  input: z.strictObject({
    taskId,
    epoch,
    state: z.enum(['in_progress', 'waiting']).optional().describe('Where the work is'),
    progress: text('What is being done, in a few words', 500).optional(),
  }),
  output: answerShape(
    z.object({
      leaseUntil: z.iso.datetime().optional().describe('Absent where you are to stop.'),
      stop: stopShape,
    }),
  ),
  annotations: { ...writing, idempotentHint: true },
  loosens: [],
  role: 'worker',
  routine: true,
  audience: 'runners',
  example: { taskId: 'task-000abc-001', epoch: 1, progress: 'Running the tests' },
  answer: ({ leaseUntil, stop }: Heartbeat) =>
    success(stop?.message ?? 'Lease renewed.', { leaseUntil: leaseUntil?.toISOString(), stop }),
  handler: ({ services, workspace, principal, recordAnswer }, beat) =>
    services.codingRunners.heartbeat(principal, { workspace, ...beat }, recordAnswer),
});
