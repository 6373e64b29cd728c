/** What stands in the way of a task's transition, in words. */
import { MusterError } from '../../../kernel/errors.ts';
import { isClosed, type Task } from './task.ts';

export function notPossible(
  task: Task,
  verb: string,
  agentId?: string,
  suggestion = suggestionFor(task, agentId),
): MusterError {
  const holder = task.claim?.agentId;
  const by = holder === undefined ? '' : holder === agentId ? ', held by you' : `, held by "${holder}"`;
  const blocked = task.status === 'available' && task.blockers > 0 ? ' and not ready yet' : '';
  // Whoever held it hears who has cancelled it, and why.
  const why = task.status === 'cancelled' && task.error !== undefined ? ` ${task.error}` : '';
  return new MusterError(
    'CONFLICT',
    `Task "${task.id}" cannot ${verb}: it is ${task.status}${blocked}${by}.${why}`,
    {
      field: 'task_id',
      reason: holder !== undefined && holder !== agentId ? 'NOT_HOLDER' : 'WRONG_STATE',
      suggestion,
    },
  );
}

function suggestionFor(task: Task, agentId: string | undefined): string {
  if (isClosed(task.status)) return 'A closed task is final: claim another one with coordination.claim_task.';
  if (task.status === 'available') return 'Claim it first with coordination.claim_task.';
  if (task.claim?.agentId !== agentId) return 'Only its holder can report on it: claim another task.';
  if (task.status === 'claimed')
    return `Check ${task.coding ? 'the epoch' : 'claim_epoch'} against the one that coordination.claim_task answered.`;
  return `Report its outcome with ${task.coding ? 'coding.end_task' : 'coordination.complete_task or coordination.fail_task'}.`;
}
