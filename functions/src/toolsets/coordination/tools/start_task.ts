import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { Task } from '../rules/task.ts';
import { agentId, claimEpoch, lateResultOf, taskId, taskShape } from './shapes.ts';

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  description: 'Marks a task that you claimed as in progress.',
  details: 'Its holder may say so again.',
  input: z.strictObject({
    agent_id: agentId,
    task_id: taskId,
    claim_epoch: claimEpoch,
  }),
  output: z.object({ success: z.boolean(), late_result: taskShape.shape.late_result }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002' },
  answer: (task: Task) => ({ success: true, late_result: lateResultOf(task) }),
  handler: async ({ services, workspace, principal, recordAnswer }, { agent_id, task_id, claim_epoch }) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    return services.taskQueue.start(principal, task_id, { agentId, epoch: claim_epoch }, recordAnswer);
  },
});
