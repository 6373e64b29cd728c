/** How a runner stands to a task that it has claimed. Pure. */
import { MusterError } from '../errors.ts';
import { type Claimant, renewLease, restoreClaim, startTask, waitTask } from '../tasks/machine.ts';
import { type Claim, isClosed, isHeld, type Task } from '../tasks/task.ts';
import { codingStatus } from './status.ts';
import { asCodingTask, type CodingTask } from './task.ts';

/** Why a runner is to stop working on a task. */
export interface Stop {
  readonly reason: 'ended' | 'claim_lost';
  readonly message: string;
}

export type Standing =
  | {
      readonly kind: 'holds';
      readonly task: CodingTask;
      /** Whether its lease had run out, and nobody had claimed the task since. */
      readonly isRestored: boolean;
    }
  /** Somebody has ended the task under it: what it still has to say is heard. */
  | { readonly kind: 'ended'; readonly stop: Stop }
  | { readonly kind: 'lost'; readonly stop: Stop };

/** A lease is renewed when less than this part of it is left, so that not every call writes. */
const RENEWAL = 2 / 3;

/** The lease of a claim that is given back, in seconds. */
const RESTORED_LEASE_SECONDS = 120;

export function standingOf(task: CodingTask, claimant: Claimant, now: Date): Standing {
  const { claim } = task;
  const isTheirs = claim?.agentId === claimant.agentId && claim.epoch === claimant.epoch;
  if (isTheirs && isHeld(task.status)) return { kind: 'holds', task, isRestored: false };
  if (isTheirs && isClosed(task.status)) {
    const message = `Task ${task.id} was ended: it is ${codingStatus(task.status)}.`;
    return { kind: 'ended', stop: { reason: 'ended', message } };
  }
  const restored = restoreClaim(task, claimant, RESTORED_LEASE_SECONDS, now);
  if (restored?.claim !== undefined) {
    return { kind: 'holds', task: goneOn(task, restored, restored.claim), isRestored: true };
  }
  const message = `The claim of task ${task.id} with epoch ${claimant.epoch} is no longer good.`;
  return { kind: 'lost', stop: { reason: 'claim_lost', message } };
}

/** The attempt was not lost after all. */
function goneOn(before: CodingTask, restored: Task, claim: Claim): CodingTask {
  const { failure: _not, ...coding } = before.coding;
  return {
    ...restored,
    claim: { ...claim, isRunners: true },
    retries: Math.max(0, before.retries - 1),
    coding: { ...coding, attempts: coding.attempts.filter(({ epoch }) => epoch !== before.epoch) },
  };
}

/**
 * A sign of life: moves the task on, notes what is being done, and renews the lease where it is time.
 * @param state `started`: at least in progress
 * @throws MusterError CONFLICT where the state would go back
 */
export function beat(
  standing: Extract<Standing, { kind: 'holds' }>,
  claimant: Claimant,
  state: 'started' | 'in_progress' | 'waiting' | undefined,
  progress: string | undefined,
  now: Date,
): Standing {
  const moved = movedOn(standing.task, claimant, state, now);
  const said =
    progress === undefined || progress === moved.coding.progress
      ? moved
      : { ...moved, coding: { ...moved.coding, progress } };
  return {
    ...standing,
    task: isRenewalDue(said, standing.task, now) ? asCodingTask(renewLease(said, now)) : said,
  };
}

function movedOn(
  task: CodingTask,
  claimant: Claimant,
  state: 'started' | 'in_progress' | 'waiting' | undefined,
  now: Date,
): CodingTask {
  if (state === undefined) return task;
  const begun = task.status === 'claimed' ? asCodingTask(startTask(task, claimant, now)) : task;
  if (state === 'waiting' && begun.status === 'in_progress') return asCodingTask(waitTask(begun, claimant));
  if (state === 'in_progress' && begun.status === 'waiting') throw cannotGoBack(task.id);
  return begun;
}

/** What writes anyhow renews for nothing. */
function isRenewalDue(task: CodingTask, before: CodingTask, now: Date): boolean {
  const { claim } = task;
  if (claim === undefined) return false;
  const left = claim.leaseExpiresAt.getTime() - now.getTime();
  return task !== before || left < claim.leaseSeconds * 1000 * RENEWAL;
}

function cannotGoBack(taskId: string): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" is waiting: it does not go back to in_progress.`, {
    field: 'state',
    reason: 'WRONG_STATE',
    suggestion: 'Leave state out to renew the lease, or report the outcome with end_task.',
  });
}
