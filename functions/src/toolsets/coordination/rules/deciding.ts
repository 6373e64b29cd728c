/** Who may decide about a task beside its holder, and commits that take a task from its holder. */

import { hasRole, type Principal, roleIn } from '../../../access/rules/principal.ts';
import { type CallRecord, type Change, StaleWriteError } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { CoordinationPorts } from './session.ts';
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

/** Commits; where a holder no longer exists, without what it would be relieved of. */
export async function commitRelieving(
  { store, agents }: Pick<CoordinationPorts, 'store' | 'agents'>,
  changes: readonly Change[],
  record?: CallRecord,
): Promise<void> {
  try {
    await store.commit(changes, record);
  } catch (error) {
    const drop = changes.find((change) => change.kind === 'dropTask');
    if (!(error instanceof StaleWriteError) || drop === undefined) throw error;
    if ((await agents.find(drop.agentId)) !== undefined) throw error;
    await store.commit(
      changes.filter((change) => change !== drop),
      record,
    );
  }
}
