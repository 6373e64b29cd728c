/** Claims whose lease has expired and whose runner comes back. Source: docs/semantics.md#coding. */
import { type Claimant, type CodingTask, restoreClaim } from '../../coordination/index.ts';

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
