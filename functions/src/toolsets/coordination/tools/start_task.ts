import { z } from 'zod';
import type { Message } from '../rules/mailbox.ts';
import type { Task } from '../rules/task.ts';
import {
  agentId,
  claimEpoch,
  defineTool,
  lateResultOf,
  messagesAnswer,
  messagesShape,
  taskId,
  taskShape,
} from './coordinationAnswers.ts';

export const startTask = defineTool({
  name: 'start_task',
  title: 'Start a task',
  description: 'Marks a task that you claimed as in progress.',
  details: 'Its holder may say so again.',
  input: z.strictObject({ agent_id: agentId, task_id: taskId, claim_epoch: claimEpoch }),
  output: z.object({
    success: z.boolean(),
    late_result: taskShape.shape.late_result,
    messages: messagesShape,
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', task_id: 'task-xxx-002' },
  answer: ({ task, messages }: Started) => ({
    success: true,
    late_result: lateResultOf(task),
    messages: messagesAnswer(messages),
  }),
  handler: async ({ services, workspace, principal, recordAnswer }, { agent_id, task_id, claim_epoch }) => {
    const agent = await services.liveness.acting(principal, workspace, agent_id);
    const messages = await services.messages.unread(agent, workspace);
    const started = (task: Task): Started => ({ task, messages });
    const claimant = { agent_id: agent.id, claim_epoch: claim_epoch };
    const record = (task: Task) => recordAnswer(started(task));
    return started(await services.taskQueue.start(principal, task_id, claimant, record));
  },
});

interface Started {
  readonly task: Task;
  readonly messages: readonly Message[];
}
