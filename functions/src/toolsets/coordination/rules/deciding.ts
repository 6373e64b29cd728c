/** Who may decide about a task beside its holder. */

import { hasRole, type Principal, roleIn } from '../../../access/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Task } from './task.ts';

/** A task, as far as it says who may decide about it. */
type Decided = Pick<Task, 'id' | 'workspace' | 'createdBy' | 'ownerUid' | 'coding'>;

/**
 * Lets the creator, whoever has the same owner, and leaders decide about a task. Source: docs/semantics.md#coordination.
 * @param field the argument that names the task
 * @throws MusterError FORBIDDEN
 */
export function authoriseDeciding(
  principal: Principal,
  task: Decided,
  field: 'task_id' | 'taskId' | 'id',
): void {
  const role = roleIn(principal, task.workspace) ?? 'viewer';
  if (hasRole(role, 'leader') || (hasRole(role, 'worker') && isCreators(principal, task))) return;
  throw new MusterError('FORBIDDEN', `You may not change task "${task.id}".`, {
    field,
    reason: 'NOT_YOURS',
    suggestion: 'Its holder may, whoever created it or has the same owner, and leaders of the workspace.',
  });
}

/** Tasks from before they had an owner know only who created them. */
function isCreators({ uid, agentId, ownerUid }: Principal, task: Decided): boolean {
  const owner = task.ownerUid ?? task.coding?.ownerUid;
  if (owner !== undefined) return owner === ownerUid;
  return [uid, agentId, ownerUid].includes(task.createdBy);
}
