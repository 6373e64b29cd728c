import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { Task } from '../rules/task.ts';
import { agentId, claimEpoch, taskAnswer, taskId, taskShape } from './shapes.ts';

const answer = (task: Task) => {
  const { late_result } = taskAnswer(task);
  return { success: true, ...(late_result && { late_result }) };
};

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  description: 'Marks a task that you claimed as in progress.',
  details: 'Its holder may say so again.',
  input: z.strictObject({
    agent_id: agentId('Your agent ID'),
    task_id: taskId('Task ID'),
    claim_epoch: claimEpoch,
  }),
  output: z.object({ success: z.boolean(), late_result: taskShape.shape.late_result }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002' },
  handler: async ({ services, principal, operation }, { agent_id, task_id, claim_epoch }) => {
    await services.membership.actAs(principal, agent_id);
    const claimant = { agentId: agent_id, ...(claim_epoch !== undefined && { epoch: claim_epoch }) };
    return answer(
      await services.taskQueue.start(task_id, claimant, (task) => operation.recordAnswer(answer(task))),
    );
  },
});
