/** How complete_task and fail_task answer. */
import { z } from 'zod';
import { MAX_RETRIES, type Settlement } from '../../domain/tasks/machine.ts';
import { taskAnswer, taskShape } from './shapes.ts';

export const settlementShape = z.object({
  success: z.boolean(),
  message: z.string().optional(),
  retry_at: z.string().optional().describe('When the task becomes claimable again.'),
  retries_left: z.number().optional(),
  blocked_tasks: z
    .array(z.string())
    .optional()
    .describe('Tasks that depend on this failed one and stay blocked.'),
  late_result: taskShape.shape.late_result,
});

export function settlementAnswer({ kind, task }: Settlement): z.output<typeof settlementShape> {
  const { late_result, retry_at } = taskAnswer(task);
  const late = late_result ? { late_result } : {};
  if (kind === 'late') {
    const by = task.claim === undefined ? '' : ` by "${task.claim.agentId}"`;
    const message = `Your lease had lapsed and the task is now ${task.status}${by}. Your report is kept as its late_result.`;
    return { success: false, message, ...late };
  }
  if (task.status === 'available') {
    return {
      success: true,
      ...(retry_at !== undefined && { retry_at }),
      retries_left: MAX_RETRIES - task.retries,
      ...late,
    };
  }
  const blocked =
    task.status === 'failed' && task.dependents.length > 0 ? { blocked_tasks: [...task.dependents] } : {};
  return { success: true, ...blocked, ...late };
}
