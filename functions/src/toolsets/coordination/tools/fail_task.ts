import { z } from 'zod';
import {
  agentId,
  claimEpoch,
  defineTool,
  outcomeAnswer,
  outcomeShape,
  taskId,
  text,
} from './coordinationAnswers.ts';

export const failTask = defineTool({
  name: 'fail_task',
  title: 'Fail a task',
  description:
    'Fails a task that you hold. That is final and blocks its dependents, unless retryable: then others try again later, at most 3 times.',
  details: 'With retryable it becomes available again after a wait.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    error: text('What happened', 20_000),
    retryable: z.boolean().default(false).describe('Whether to try again'),
    claim_epoch: claimEpoch,
  }),
  output: outcomeShape,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002', error: 'The test database is not reachable' },
  answer: outcomeAnswer,
  handler: async (
    { services, workspace, principal, recordAnswer },
    { agent_id, task_id, claim_epoch, ...report },
  ) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    const claimant = { agent_id: agentId, claim_epoch: claim_epoch };
    return services.taskQueue.reportOutcome(
      principal,
      task_id,
      { claimant, outcome: { kind: 'failed', ...report } },
      recordAnswer,
    );
  },
});
