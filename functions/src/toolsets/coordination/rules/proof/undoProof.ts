/** Undoes hand-ins and verdicts. Source: docs/semantics.md#undo. */
import type { Principal } from '../../../../identity/rules/principal.ts';
import type { AuditEffect } from '../../../../kernel/auditLog.ts';
import type { Versioned } from '../../../../kernel/commit.ts';
import { cannotUndoError, changedSinceError } from '../../../../kernel/effects.ts';
import { skipUnreadable } from '../../../../kernel/ports.ts';
import { heldAgain } from '../files/reserving.ts';
import { queueGrowth } from '../openSession.ts';
import type { CoordinationChange, CoordinationPorts } from '../ports.ts';
import { isClosed, isHeld, type Task } from '../task.ts';
import { reopenedDependents, taskChanges, withSpent } from '../taskChanges.ts';
import { freeAgent, type Proofs } from './proofs.ts';
import { isVerifying } from './proving.ts';

/** A change of a task that is undone. */
export interface UndoneEffect {
  readonly effect: AuditEffect;
  readonly found: Versioned<Task>;
  /** State of the task before the change, except for the fields that an undo never restores. */
  readonly former: Task;
  readonly by: Principal;
  readonly now: Date;
}

type UndoPorts = Pick<CoordinationPorts, 'agents' | 'heldFiles' | 'sessions' | 'tasks'>;

/** Returns the changes that give a handed-in task back to its author. Its check is undone as a separate effect. */
export async function undoHandIn(ports: UndoPorts, undone: UndoneEffect): Promise<readonly CoordinationChange[]> {
  const { effect, found, former, now } = undone;
  const { value: before, version } = found;
  if (before.coding !== undefined)
    throw cannotUndoError(effect, 'coordination.retry_task with comments sends a coding task back.');
  await requireCheckNotBegun(ports, undone);
  const { claim, proof_until: _until, ...rest } = former;
  const agent = claim && (await freeAgent(ports, claim.claimed_by));
  if (claim === undefined || agent === undefined) {
    const task: Task = { ...rest, status: 'available' };
    return [...taskChanges(before, task, version, now), ...(await queueGrowth(ports.sessions, task))];
  }
  const lease_expires_at = new Date(now.getTime() + claim.lease_seconds * 1000);
  const worked = Number(before.proof?.since) - claim.claimed_at.getTime();
  const again = withSpent({ ...rest, claim: { ...claim, lease_expires_at } }, { milliseconds: -worked });
  const { task, changes } = await heldAgain(ports, agent, again);
  return [...taskChanges(before, task, version, now), ...changes];
}

/** Returns the changes with which a task is verified again, by a new check, after a verdict on it was undone. */
export async function undoVerdict(
  ports: UndoPorts,
  proofs: Proofs,
  undone: UndoneEffect,
  dependents: readonly Versioned<Task>[],
): Promise<readonly CoordinationChange[]> {
  const { effect, found, former, now } = undone;
  const { value: before, version } = found;
  if (before.status === 'in_progress')
    throw changedSinceError(effect, [`"${before.claim?.claimed_by}" has started it`]);
  if (before.proven.some(({ step }) => step === 'merged'))
    throw cannotUndoError(effect, 'Its pull request was merged.');
  if (isVerifying(before)) await requireCheckNotBegun(ports, undone);
  const { proof, claim: _released, waiting_for: _person, ...rest } = former;
  if (proof === undefined) throw cannotUndoError(effect, 'Its result was not being verified.');
  const { check: _ended, ...again } = proof;
  const { task, changes } = await proofs.begun({ ...rest, proof: again }, now);
  const holder = isHeld(before.status) ? before.claim?.claimed_by : undefined;
  const released = { kind: 'releaseTask', taskId: task.id, wasHeld: true } as const;
  const releases = holder === undefined ? [] : [{ ...released, agentId: holder }];
  return [...taskChanges(before, task, version, now), ...releases, ...reopenedDependents(dependents), ...changes];
}

/** @throws MusterError CONFLICT with the reason CHANGED_SINCE if an agent has begun the task's current check */
async function requireCheckNotBegun({ tasks }: UndoPorts, { effect, found }: UndoneEffect): Promise<void> {
  const { check, step } = found.value.proof ?? {};
  const begun = check === undefined || step === 'person' ? undefined : await skipUnreadable(tasks.find(check));
  if (begun === undefined || begun.value.status === 'available' || isClosed(begun.value.status)) return;
  throw changedSinceError(effect, [`"${begun.value.claim?.claimed_by}" has claimed its check "${check}"`]);
}
