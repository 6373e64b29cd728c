/** Who may decide about a task beside its holder. */

import { type Principal, roleIn } from '../../../access/rules/principal.ts';
import { hasRole } from '../../../access/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Task } from './task.ts';

/** A task, as far as it says who may decide about it. */
type Decided = Pick<Task, 'id' | 'workspace' | 'ownerUid'>;

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
  if (hasRole(role, 'leader') || (hasRole(role, 'worker') && task.ownerUid === principal.ownerUid)) return;
  throw new MusterError('FORBIDDEN', `You may not change task "${task.id}".`, {
    field,
    reason: 'NOT_YOURS',
    suggestion: 'Its holder may, whoever created it or has the same owner, and leaders of the workspace.',
  });
}
