/**
 * The task's state machine: available → claimed → in_progress → done | failed, with leases, epochs and late results;
 * coding tasks also wait. Whoever decides about a task cancels it, takes it from its holder, or has it tried again after
 * it failed or was cancelled. Each transition is pure: it gives a new task or
 * throws what stands in its way. Source: docs/semantics.md#coordination.
 */

import { MusterError } from '../../../kernel/errors.ts';
import {
  type Claim,
  type Claimant,
  isClosed,
  isHeld,
  type LapsedClaim,
  type ReportedOutcome,
  type Task,
  type TaskOutcome,
  type TaskResult,
} from './task.ts';

/** How often a task may fail retryably before a failure is final. */
export const MAX_RETRIES = 3;

/** The wait before the first retry, in seconds; it doubles with each. */
const FIRST_BACKOFF_SECONDS = 30;

/** How many former holders a task remembers. */
const MAX_LAPSED_CLAIMS = 20;

const laterBySeconds = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000);

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function newClaim(holder: LapsedClaim, leaseSeconds: number, now: Date): Claim {
  const { agent_id: claimed_by, claim_epoch } = holder;
  return {
    claimed_by,
    claim_epoch,
    claimed_at: now,
    lease_seconds: leaseSeconds,
    lease_expires_at: laterBySeconds(now, leaseSeconds),
  };
}

export function claimTask(task: Task, agentId: string, leaseSeconds: number, now: Date): Task {
  if (task.status !== 'available' || task.blockers > 0) throw notPossible(task, 'be claimed');
  const epoch = task.claim_epoch + 1;
  const { waiting_for: _formerHolders, ...rest } = task;
  return {
    ...rest,
    status: 'claimed',
    claim_epoch: epoch,
    claim: newClaim({ agent_id: agentId, claim_epoch: epoch }, leaseSeconds, now),
  };
}

/** What the same claim has started already stays the very same task. */
export function startTask(task: Task, claimant: Claimant, now: Date): Task {
  const claim = currentClaim(task, claimant);
  if (claim !== undefined && task.status === 'in_progress') return task;
  if (claim === undefined || task.status !== 'claimed')
    throw notPossible(task, 'be started', claimant.agent_id);
  const renewed = { ...claim, started_at: now, lease_expires_at: laterBySeconds(now, claim.lease_seconds) };
  return { ...task, status: 'in_progress', claim: renewed };
}

/** Somebody who may decide about it says that it has begun. The lease is left: only its holder keeps it. */
export function noteStart(task: Task, now: Date): Task {
  const { claim } = task;
  if (claim === undefined || task.status !== 'claimed') throw notPossible(task, 'be started');
  return { ...task, status: 'in_progress', claim: { ...claim, started_at: now } };
}

/** It is taken back that it has begun: its holder has it as before. */
export function unstartTask(task: Task): Task {
  const { claim } = task;
  if (claim === undefined || task.status !== 'in_progress') throw notPossible(task, 'be as before its start');
  const { started_at: _begun, ...rest } = claim;
  return { ...task, status: 'claimed', claim: rest };
}

/** The agent is done and its session is still alive. */
export function waitTask(task: Task, claimant: Claimant): Task {
  if (task.status !== 'in_progress' || currentClaim(task, claimant) === undefined)
    throw notPossible(task, 'wait', claimant.agent_id);
  return { ...task, status: 'waiting' };
}

/** Ends an open task for somebody other than its holder, who hears of it at the next call. */
export function cancelTask(task: Task, error: string, now: Date): Task {
  if (isClosed(task.status)) throw notPossible(task, 'be cancelled');
  return { ...withoutBackoff(task), status: 'cancelled', error, completed_at: now };
}

/** Gives the task back to the last holder whose lease ran out; undefined where somebody has claimed it since. */
export function restoreClaim(
  task: Task,
  claimant: Claimant,
  leaseSeconds: number,
  now: Date,
): Task | undefined {
  const lapsed = lapsedClaim(task, claimant);
  if (task.status !== 'available' || lapsed?.claim_epoch !== task.claim_epoch || task.blockers > 0)
    return undefined;
  // Somebody has taken it away, and it did not just run out.
  if (task.released_epoch === task.claim_epoch) return undefined;
  const claim = { ...newClaim(lapsed, leaseSeconds, now), started_at: now };
  const lapsedClaims = task.lapsed_claims.filter((one) => one !== lapsed);
  return { ...task, status: 'in_progress', claim, lapsed_claims: lapsedClaims };
}

/** Closes the task with an outcome, hands it back for a retry, or keeps the outcome as a late result. */
export function reportOutcome(
  task: Task,
  claimant: Claimant,
  outcome: ReportedOutcome,
  now: Date,
): TaskOutcome {
  const isOwn = currentClaim(task, claimant) !== undefined;
  if (isOwn && isHeld(task.status)) return { kind: 'accepted', task: applyOutcome(task, outcome, now) };
  if ((isOwn || hasReported(task, claimant)) && sameOutcome(task, outcome)) return { kind: 'repeated', task };
  const lapsed = isOwn ? undefined : lapsedClaim(task, claimant);
  if (lapsed === undefined)
    throw notPossible(task, outcome.kind === 'done' ? 'be completed' : 'be failed', claimant.agent_id);
  if (task.status === 'available' && lapsed.claim_epoch === task.claim_epoch) {
    const claim = newClaim(lapsed, 0, now);
    return { kind: 'accepted', task: applyOutcome({ ...task, claim }, outcome, now) };
  }
  const told = outcome.kind === 'done' ? { result: outcome.result } : { error: outcome.error };
  return { kind: 'late', task: { ...task, late_result: { ...lapsed, received_at: now, ...told } } };
}

/**
 * Closes the task as done because its result is there, whoever reports it: for its holder, for the last one
 * whose lease lapsed, or for nobody where it was never claimed. A closed task stays as it is.
 */
export function finishTask(task: Task, result: TaskResult, now: Date): TaskOutcome {
  if (isClosed(task.status)) return { kind: 'repeated', task };
  const lapsed = task.lapsed_claims.findLast(({ claim_epoch: epoch }) => epoch === task.claim_epoch);
  const claim = task.claim ?? (lapsed && newClaim(lapsed, 0, now));
  const open = { ...withoutBackoff(task), ...(claim && { claim }) };
  return { kind: 'accepted', task: applyOutcome(open, { kind: 'done', result }, now) };
}

/** Takes the task from a holder whose lease ran out. */
export function releaseTask(task: Task): Task {
  const { claim, ...rest } = task;
  if (claim === undefined || !isHeld(task.status)) throw notPossible(task, 'be released');
  const { claimed_by: agentId, claim_epoch: epoch } = claim;
  const lapsedClaims = [...task.lapsed_claims, { agent_id: agentId, claim_epoch: epoch }].slice(
    -MAX_LAPSED_CLAIMS,
  );
  return { ...rest, status: 'available', lapsed_claims: lapsedClaims };
}

/** Takes the task from its holder, whose result still counts until somebody else has claimed the task. */
export function takeAway(task: Task): Task {
  return { ...releaseTask(task), released_epoch: task.claim_epoch };
}

/** Extends the lease of a holder that was seen at `seenAt`. */
export function renewLease(task: Task, seenAt: Date): Task {
  if (task.claim === undefined || !isHeld(task.status)) throw notPossible(task, 'be renewed');
  const leaseExpiresAt = laterBySeconds(seenAt, task.claim.lease_seconds);
  return { ...task, claim: { ...task.claim, lease_expires_at: leaseExpiresAt } };
}

/** The holder has asked a person: the claim stands until the question is over. */
export function waitForAnswer(task: Task, waitingFor: NonNullable<Task['waiting_for']>): Task {
  if (task.claim === undefined || !isHeld(task.status)) throw notPossible(task, 'wait for an answer');
  const leaseExpiresAt = later(task.claim.lease_expires_at, waitingFor.until);
  return { ...task, waiting_for: waitingFor, claim: { ...task.claim, lease_expires_at: leaseExpiresAt } };
}

/** The question is over: the lease begins anew. Undefined where the task no longer waits for it. */
export function endWaitForAnswer(task: Task, requestId: string, now: Date): Task | undefined {
  const { waiting_for, claim, ...rest } = task;
  if (waiting_for?.request_id !== requestId || claim === undefined || !isHeld(task.status)) return undefined;
  return { ...rest, claim: { ...claim, lease_expires_at: laterBySeconds(now, claim.lease_seconds) } };
}

/** Ends the wait before a retry. */
export function endBackoff(task: Task): Task {
  const { retry_at, budget_wait: _, ...rest } = task;
  if (retry_at === undefined || task.status !== 'available') throw notPossible(task, 'be retried');
  return { ...rest, blockers: task.blockers - 1 };
}

function withoutBackoff(task: Task): Task {
  return task.retry_at === undefined ? task : endBackoff(task);
}

function applyOutcome(task: Task, outcome: ReportedOutcome, now: Date): Task {
  if (outcome.kind === 'done') {
    const { error: _overcome, ...rest } = task;
    const { result, whenPartsDone } = outcome;
    if (whenPartsDone && task.ancestors && task.claim) return awaitParts(rest, task.claim, result, now);
    const stuckUnsettled = task.stuck_unsettled || task.stuck;
    return { ...rest, status: 'done', result, completed_at: now, stuck_unsettled: stuckUnsettled };
  }
  if (outcome.kind === 'returned')
    return requeued(task, { error: outcome.error, retries: task.retries }, outcome.afterSeconds, now);
  const { limit, backoffSeconds } = outcome.retry ?? {
    limit: MAX_RETRIES,
    backoffSeconds: FIRST_BACKOFF_SECONDS * 2 ** task.retries,
  };
  if (!outcome.retryable || task.retries >= limit) {
    return { ...task, status: 'failed', error: outcome.error, completed_at: now };
  }
  return requeued(task, { error: outcome.error, retries: task.retries + 1 }, backoffSeconds, now);
}

/** Puts a task that its holder reports on into the queue again, after so many seconds. */
function requeued(
  { claim: _handedBack, ...task }: Task,
  changed: Required<Pick<Task, 'error' | 'retries'>>,
  backoffSeconds: number,
  now: Date,
): Task {
  return {
    ...task,
    ...changed,
    status: 'available',
    lapsed_claims: task.lapsed_claims.filter((lapsed) => lapsed.claim_epoch !== task.claim_epoch),
    ...(backoffSeconds > 0 && { retry_at: laterBySeconds(now, backoffSeconds), blockers: task.blockers + 1 }),
  };
}

function sameOutcome(task: Task, outcome: ReportedOutcome): boolean {
  if (outcome.kind === 'returned') return false;
  if (outcome.kind === 'failed') return task.status === 'failed' && task.error === outcome.error;
  const isThere = task.status === 'done' || task.parts_awaited !== undefined;
  return isThere && JSON.stringify(task.result) === JSON.stringify(outcome.result);
}

function isOf(claim: LapsedClaim, { agent_id, claim_epoch: epoch }: Claimant): boolean {
  return claim.agent_id === agent_id && (epoch === undefined || epoch === claim.claim_epoch);
}

function currentClaim({ claim }: Task, claimant: Claimant): Claim | undefined {
  return claim && isOf({ agent_id: claim.claimed_by, claim_epoch: claim.claim_epoch }, claimant)
    ? claim
    : undefined;
}

function lapsedClaim(task: Task, claimant: Claimant): LapsedClaim | undefined {
  return task.lapsed_claims.findLast((lapsed) => isOf(lapsed, claimant));
}

export function notPossible(
  task: Task,
  verb: string,
  agentId?: string,
  suggestion = suggestionFor(task, agentId),
): MusterError {
  const holder = task.claim?.claimed_by;
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
  if (task.claim?.claimed_by !== agentId) return 'Only its holder can report on it: claim another task.';
  if (task.status === 'claimed')
    return `Check ${task.coding ? 'the epoch' : 'claim_epoch'} against the one that coordination.claim_task answered.`;
  return `Report its outcome with ${task.coding ? 'coding.end_task' : 'coordination.complete_task or coordination.fail_task'}.`;
}

// Tasks whose result is there, and which are done when everything below them is. Source: docs/semantics.md#one-graph.

/** Nobody holds it any more: what is still to be done is done by those who have its parts. */
export function awaitParts(
  { claim: _relieved, ...task }: Task,
  { claimed_by: agentId, claim_epoch: epoch }: Claim,
  result: TaskResult,
  since: Date,
): Task {
  return {
    ...task,
    status: 'waiting',
    result,
    parts_awaited: { agent_id: agentId, claim_epoch: epoch, since, failed: [] },
  };
}

/**
 * What becomes of a task whose result is there, now that something below it has changed; the very same where nothing
 * does.
 * @param below how much of that is open, and what of it has failed; what was cancelled is not wanted
 */
export function partsChanged(
  task: Task,
  below: { readonly open: number; readonly failed: readonly string[] },
  now: Date,
): Task {
  const { open, failed } = below;
  const { parts_awaited: awaited } = task;
  if (task.status !== 'waiting' || awaited === undefined) return task;
  if (open === 0 && failed.length === 0) return { ...task, status: 'done', completed_at: now };
  if (JSON.stringify(failed) === JSON.stringify(awaited.failed)) return task;
  return { ...task, parts_awaited: { ...awaited, failed } };
}

/** Whether it was the claimant who reported the result that waits, or waited, for what is below. */
export function hasReported(
  { parts_awaited: awaited }: Task,
  { agent_id, claim_epoch: epoch }: Claimant,
): boolean {
  return awaited?.agent_id === agent_id && (epoch === undefined || epoch === awaited.claim_epoch);
}
