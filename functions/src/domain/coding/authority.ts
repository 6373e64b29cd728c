/** Who may say what of a coding task. Source: docs/semantics.md#coding. */
import { MusterError } from '../errors.ts';
import { hasRole, type Principal } from '../principal.ts';
import type { Claimant } from '../tasks/machine.ts';
import type { CodingTask } from './task.ts';

export interface Acting {
  /** @throws MusterError FORBIDDEN unless the caller may act as the agent */
  actAs(principal: Principal, agentId: string): Promise<void>;
}

/** Whether the caller is the agent that holds the task, or that closed it. */
export function isHolder(principal: Principal, task: CodingTask): boolean {
  return principal.agentId !== undefined && task.claim?.agentId === principal.agentId;
}

/**
 * Who reports on a claim: the agent that it was given to, where the caller may act for it.
 * @throws MusterError FORBIDDEN
 */
export async function claimantOf(
  acting: Acting,
  principal: Principal,
  task: CodingTask,
  epoch: number,
): Promise<Claimant> {
  const claims = [...task.lapsedClaims, ...(task.claim ? [task.claim] : [])];
  const holder = claims.findLast((claim) => claim.epoch === epoch)?.agentId;
  if (holder === undefined) return { agentId: principal.agentId ?? principal.uid, epoch };
  await acting.actAs(principal, holder);
  return { agentId: holder, epoch };
}

/**
 * Lets the creator, whoever has the same owner, and leaders decide about a task.
 * @throws MusterError FORBIDDEN
 */
export function authoriseDeciding(principal: Principal, task: CodingTask): void {
  if (hasRole(principal.role, 'leader') || principal.ownerUid === task.coding.ownerUid) return;
  throw new MusterError('FORBIDDEN', `You may not change task "${task.id}".`, {
    field: 'taskId',
    reason: 'NOT_YOURS',
    suggestion: 'Its runner may, whoever created it or has the same owner, and leaders.',
  });
}
