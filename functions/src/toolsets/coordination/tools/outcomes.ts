import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import { MAX_RETRIES } from '../rules/stateMachine.ts';
import type { TaskOutcome } from '../rules/task.ts';
import { lateResultOf, some, taskShape } from './shapes.ts';

/** How complete_task and fail_task answer. */
export const outcomeShape = z.object({
  success: z.boolean(),
  ...partial({
    message: z.string(),
    retry_at: z.string().describe('When the task becomes claimable again.'),
    retries_left: z.number(),
    blocked_tasks: z.array(z.string()).describe('Tasks that depend on this failed one and stay blocked.'),
    late_result: taskShape.shape.late_result,
  }).shape,
});

export function outcomeAnswer({ kind, task }: TaskOutcome): z.output<typeof outcomeShape> {
  const late_result = lateResultOf(task);
  if (kind === 'late') {
    const by = task.claim === undefined ? '' : ` by "${task.claim.agentId}"`;
    const message = `Your lease had lapsed and the task is now ${task.status}${by}. Your report is kept as its late_result.`;
    return { success: false, message, late_result };
  }
  if (task.status === 'available') {
    const retries_left = MAX_RETRIES - task.retries;
    return { success: true, retry_at: task.retryAt?.toISOString(), retries_left, late_result };
  }
  if (task.status === 'waiting')
    return {
      success: true,
      message: 'Your result is kept. The task is done when all its parts are.',
      late_result,
    };
  const blocked_tasks = task.status === 'failed' ? some(task.dependents) : undefined;
  return { success: true, blocked_tasks, late_result };
}
