/** Tasks that a runner returns, and claims whose runner comes back. Source: docs/semantics.md#coding. */
import { MusterError } from '../../../kernel/errors.ts';
import {
  asCodingTask,
  type Claimant,
  type CodingTask,
  type Failure,
  restoreClaim,
  type Task,
} from '../../coordination/index.ts';
import type { Ended, EndReport } from './task.ts';

/** The lease of a claim that is restored, in seconds. */
const RESTORED_LEASE_SECONDS = 120;

/**
 * Returns the task in the hands of its last holder, whose lease had expired: the attempt was not lost after all.
 * Undefined if another agent has claimed it since, or if it was taken away.
 */
export function restored(before: CodingTask, claimant: Claimant, now: Date): CodingTask | undefined {
  const task = restoreClaim(before, claimant, RESTORED_LEASE_SECONDS, now);
  if (task?.claim === undefined) return undefined;
  const { failure: _not, ...coding } = before.coding;
  return {
    ...task,
    claim: { ...task.claim, isRunners: true },
    retries: Math.max(0, before.retries - 1),
    coding: { ...coding, attempts: coding.attempts.filter(({ epoch }) => epoch !== before.epoch) },
  };
}

/** For how many seconds the report returns the task; undefined if it ends the attempt. */
export function returnAfter({ status, failure }: EndReport): number | undefined {
  return status === 'failed' ? failure?.returnAfterSeconds : undefined;
}

/** @throws MusterError VALIDATION_ERROR if the report returns the task and also wants no other attempt */
export function requireReturnable({ failure }: EndReport): void {
  if (failure?.returnAfterSeconds === undefined || failure.retryable !== false) return;
  throw new MusterError('VALIDATION_ERROR', 'A returned task is available for another runner.', {
    field: 'failure.retryable',
    reason: 'RETURNED',
    suggestion: 'Omit failure.retryable to return the task, or failure.returnAfterSeconds to end it.',
  });
}

/**
 * The task after its runner has returned it. The claim is not listed among the attempts and does not use up a retry.
 * The end of the wait for a runner moves by the time of the claim only, so that no number of returns extends the wait.
 */
export function returned(held: CodingTask, task: Task, failure: Failure | undefined, now: Date): Ended {
  if (failure === undefined) throw new Error(`Task ${task.id} is returned without a failure.`);
  const { coding } = asCodingTask(task);
  const heldMs = held.claim === undefined ? 0 : Math.max(0, now.getTime() - held.claim.claimedAt.getTime());
  const queueEndsAt = new Date(coding.queueEndsAt.getTime() + heldMs);
  const reason = { class: failure.class, message: failure.message };
  return {
    task: { ...task, coding: { ...coding, failure: reason, returns: coding.returns + 1, queueEndsAt } },
    now,
    outcome: 'returned',
  };
}

/** The error for a caller that does not hold the task. */
export function notReturnable({ id }: CodingTask): MusterError {
  return new MusterError('CONFLICT', `You do not hold task "${id}", so you cannot return it.`, {
    field: 'failure.returnAfterSeconds',
    reason: 'NOT_HOLDER',
    suggestion:
      'Runners return a task with the epoch of their claim. coordination.release_task takes it away.',
  });
}
