import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { heartbeatAnswer, heartbeatShape, settled } from './answers.ts';
import { answerShape, epoch, taskId, text, writing } from './shapes.ts';

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
  output: answerShape(heartbeatShape),
  annotations: { ...writing, idempotentHint: true },
  role: 'worker',
  audience: 'runners',
  example: { taskId: 'task-000abc-001', epoch: 1, progress: 'Running the tests' },
  handler: async ({ services, workspace, principal, operation }, beat) => {
    const standing = await services.codingRunners.heartbeat(principal, { workspace, ...beat }, (outcome) =>
      settled(operation, heartbeatAnswer(outcome)),
    );
    return heartbeatAnswer(standing);
  },
});
