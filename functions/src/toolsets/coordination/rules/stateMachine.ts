/**
 * State machine of a task: available → claimed → in_progress → done | failed. Coding tasks can also be waiting. Tasks
 * have leases, claim epochs and late reports. A task manager can cancel a task, release it, or retry it after it
 * failed or was cancelled. Each function here is pure: it returns a new task or throws a CONFLICT. Source:
 * docs/semantics.md#coordination.
 */

import { MusterError } from '../../../kernel/errors.ts';
import { type Demanding, decided, handIn, isVerifying, type PassedStep, withoutProof } from './proof/proving.ts';
import {
  type Claim,
  type Claimant,
  type ExpiredClaim,
  isClosed,
  isHeld,
  type ReportedOutcome,
  type Task,
  type TaskOutcome,
  type TaskResult,
} from './task.ts';

/** Maximum number of retries of a task. After the last retry, every failure is final. */
export const MAX_TASK_RETRIES = 3;

/** Delay before the first retry, in seconds. The delay doubles with each further retry. */
const FIRST_BACKOFF_SECONDS = 30;
const MAX_EXPIRED_CLAIMS = 20;

/** Default lease length. Source: docs/semantics.md#coordination. */
export const DEFAULT_LEASE_SECONDS = 30 * 60;

const addSeconds = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000);

/** Returns a claim whose lease begins now. @param lease_seconds length of the lease */
export function newClaim(holder: ExpiredClaim, lease_seconds: number, now: Date): Claim {
  const { agent_id: claimed_by, claim_epoch } = holder;
  return { claimed_by, claim_epoch, claimed_at: now, lease_seconds, lease_expires_at: addSeconds(now, lease_seconds) };
}

export function claimTask(task: Task, agentId: string, leaseSeconds: number, now: Date): Task {
  if (task.status !== 'available' || task.blockers > 0) throw invalidTransition(task, 'be claimed');
  const claim_epoch = task.claim_epoch + 1;
  const { waiting_for: _formerHolders, ...rest } = task;
  const claim = newClaim({ agent_id: agentId, claim_epoch }, leaseSeconds, now);
  return { ...rest, status: 'claimed', claim_epoch, claim };
}

/** Starts a claimed task. Returns the same object if this claim has already started the task. */
export function startTask(task: Task, claimant: Claimant, now: Date): Task {
  const claim = currentClaim(task, claimant);
  if (claim !== undefined && task.status === 'in_progress') return task;
  if (claim === undefined || task.status !== 'claimed') throw invalidTransition(task, 'be started', claimant.agent_id);
  const renewed = { ...claim, started_at: now, lease_expires_at: addSeconds(now, claim.lease_seconds) };
  return { ...task, status: 'in_progress', claim: renewed };
}

/** Marks a claimed task as in progress for a caller that is not the holder. The lease is not renewed. */
export function recordStart(task: Task, now: Date): Task {
  const { claim } = task;
  if (claim === undefined || task.status !== 'claimed') throw invalidTransition(task, 'be started');
  return { ...task, status: 'in_progress', claim: { ...claim, started_at: now } };
}

/** Undoes the start of a task, so that its holder has claimed but not started it. */
export function undoStart(task: Task): Task {
  if (task.claim === undefined || task.status !== 'in_progress') throw invalidTransition(task, 'be set to claimed');
  const { started_at: _begun, ...claim } = task.claim;
  return { ...task, status: 'claimed', claim };
}

/** Sets a coding task to waiting: its coding agent has finished, but the agent's session is still open. */
export function waitTask(task: Task, claimant: Claimant): Task {
  if (task.status !== 'in_progress' || currentClaim(task, claimant) === undefined)
    throw invalidTransition(task, 'be set to waiting', claimant.agent_id);
  return { ...task, status: 'waiting' };
}

/** Cancels an open task. The holder is notified with its next call. */
export function cancelTask(task: Task, error: string, now: Date): Task {
  if (isClosed(task.status)) throw invalidTransition(task, 'be cancelled');
  return { ...withoutProof(withoutBackoff(task)), status: 'cancelled', error, completed_at: now };
}

/** Restores the expired lease of the last holder. Returns undefined if another agent has claimed the task since. */
export function restoreClaim(task: Task, claimant: Claimant, leaseSeconds: number, now: Date): Task | undefined {
  const expired = expiredClaim(task, claimant);
  if (task.status !== 'available' || expired?.claim_epoch !== task.claim_epoch || task.blockers > 0) return undefined;
  // If the epochs are equal, the lease did not expire, but the task was released on request.
  if (task.released_epoch === task.claim_epoch) return undefined;
  const claim = { ...newClaim(expired, leaseSeconds, now), started_at: now };
  const lapsedClaims = task.lapsed_claims.filter((one) => one !== expired);
  return { ...task, status: 'in_progress', claim, lapsed_claims: lapsedClaims };
}

/** Reports an outcome: closes the task, requeues the task for a retry, or stores the outcome as a late report. */
export function reportOutcome(task: Task, claimant: Claimant, outcome: ReportedOutcome, now: Date): TaskOutcome {
  if (isSentBackResult(task, claimant, outcome)) return { kind: 'repeated', task };
  const isOwn = currentClaim(task, claimant) !== undefined;
  if (isOwn && isHeld(task.status)) return { kind: 'accepted', task: applyOutcome(task, outcome, now) };
  if ((isOwn || hasReported(task, claimant)) && sameOutcome(task, outcome)) return { kind: 'repeated', task };
  const expired = isOwn ? undefined : expiredClaim(task, claimant);
  if (expired === undefined)
    throw invalidTransition(task, outcome.kind === 'done' ? 'be completed' : 'be failed', claimant.agent_id);
  if (task.status === 'available' && expired.claim_epoch === task.claim_epoch) {
    const claim = newClaim(expired, 0, now);
    return { kind: 'accepted', task: applyOutcome({ ...task, claim }, outcome, now) };
  }
  const reported = outcome.kind === 'done' ? { result: outcome.result } : { error: outcome.error };
  return { kind: 'late', task: { ...task, late_result: { ...expired, received_at: now, ...reported } } };
}

/**
 * Completes the task with a result that did not come from its holder. The current claim, or else the latest expired
 * claim, is stored as the claim that closed the task. A closed task stays unchanged.
 * @param passed proves the result of a task with an acceptance, whose checks are then no longer needed
 */
export function finishTask(task: Task, result: TaskResult, passed: PassedStep, now: Date): TaskOutcome {
  if (isClosed(task.status)) return { kind: 'repeated', task };
  if (isVerifying(task)) return { kind: 'accepted', task: decided(task, passed, now) };
  const expired = task.lapsed_claims.findLast(({ claim_epoch: epoch }) => epoch === task.claim_epoch);
  const claim = task.claim ?? (expired && newClaim(expired, 0, now));
  const open = { ...withoutBackoff(task), ...(claim && { claim }) };
  if (task.acceptance !== undefined) return { kind: 'accepted', task: decided({ ...open, result }, passed, now) };
  return { kind: 'accepted', task: applyOutcome(open, { kind: 'done', result }, now) };
}

/** Hands in a result for an agent that does not hold the task. */
export function handInFor(task: Demanding, agentId: string, result: TaskResult, now: Date): Task {
  const claim =
    task.claim ?? newClaim({ agent_id: agentId, claim_epoch: task.claim_epoch }, DEFAULT_LEASE_SECONDS, now);
  return handIn(withoutBackoff(task), task.acceptance, { by: claim, result }, now);
}

/** Releases a task from its holder. The holder's claim is kept as an expired lease. */
export function releaseTask(task: Task): Task {
  const { claim, ...rest } = task;
  if (claim === undefined || !isHeld(task.status)) throw invalidTransition(task, 'be released');
  const { claimed_by: agentId, claim_epoch: epoch } = claim;
  const lapsedClaims = [...task.lapsed_claims, { agent_id: agentId, claim_epoch: epoch }].slice(-MAX_EXPIRED_CLAIMS);
  return { ...rest, status: 'available', lapsed_claims: lapsedClaims };
}

/**
 * Releases a task because a caller asked for it. The holder's report counts until another agent claims the task.
 * @param reason who asked, and why
 */
export function releaseClaim(task: Task, reason: string): Task {
  const { lapsed_claims: former, ...rest } = releaseTask(task);
  const released = former.slice(-1).map((claim) => ({ ...claim, released: true as const, reason }));
  return { ...rest, lapsed_claims: [...former.slice(0, -1), ...released], released_epoch: task.claim_epoch };
}

/** Extends the lease of a holder that was last seen at `seenAt`. */
export function renewLease(task: Task, seenAt: Date): Task {
  if (task.claim === undefined || !isHeld(task.status)) throw invalidTransition(task, 'be renewed');
  const lease_expires_at = addSeconds(seenAt, task.claim.lease_seconds);
  return { ...task, claim: { ...task.claim, lease_expires_at } };
}

/** Records that the holder asked a person a question, and extends the lease until the question expires. */
export function waitForAnswer(task: Task, waitingFor: NonNullable<Task['waiting_for']>): Task {
  if (task.claim === undefined || !isHeld(task.status)) throw invalidTransition(task, 'wait for an answer');
  const { lease_expires_at: end } = task.claim;
  const lease_expires_at = end > waitingFor.until ? end : waitingFor.until;
  return { ...task, waiting_for: waitingFor, claim: { ...task.claim, lease_expires_at } };
}

/** Ends the wait for an answer and renews the lease. Returns undefined if the task does not await this answer. */
export function endWaitForAnswer(task: Task, requestId: string, now: Date): Task | undefined {
  const { waiting_for, claim, ...rest } = task;
  if (waiting_for?.request_id !== requestId || claim === undefined || !isHeld(task.status)) return undefined;
  return { ...rest, claim: { ...claim, lease_expires_at: addSeconds(now, claim.lease_seconds) } };
}

/** Returns a task that cannot be claimed before a time. Afterwards, its maximum time in the queue starts again. */
export function putOff(task: Task, retry_at: Date): Task {
  const { coding, blockers } = task;
  const again = coding && { coding: { ...coding, queue_ends_at: addSeconds(retry_at, coding.queue_seconds) } };
  return { ...task, ...again, retry_at, blockers: blockers + 1 };
}

/** Ends the delay before a retry, or the wait for a budget or for files. */
export function endBackoff(task: Task): Task {
  const { retry_at, budget_wait: _, files_wait: __, ...rest } = task;
  if (retry_at === undefined || task.status !== 'available') throw invalidTransition(task, 'be retried');
  return { ...rest, blockers: task.blockers - 1 };
}

function withoutBackoff(task: Task): Task {
  return task.retry_at === undefined ? task : endBackoff(task);
}

function applyOutcome(task: Task, outcome: ReportedOutcome, now: Date): Task {
  if (outcome.kind === 'done') {
    const { error: _overcome, ...rest } = task;
    const { result, whenPartsDone, work, verdict } = outcome;
    const { acceptance, reviews, claim } = task;
    if (whenPartsDone && task.ancestors && claim) {
      const { parts_awaited, ...waiting } = awaitParts(rest, claim, result, now);
      const branch = work?.branch !== undefined && { branch: work.branch };
      return { ...waiting, ...(parts_awaited && { parts_awaited: { ...parts_awaited, ...branch } }) };
    }
    if (acceptance && claim) return handIn(task, acceptance, { ...work, by: claim, result }, now);
    const stuckUnsettled = task.stuck_unsettled || task.stuck;
    const judged = reviews && verdict && { reviews: { ...reviews, verdict } };
    return { ...rest, ...judged, status: 'done', result, completed_at: now, stuck_unsettled: stuckUnsettled };
  }
  if (outcome.kind === 'returned')
    return requeued(task, { error: outcome.error, retries: task.retries }, outcome.afterSeconds, now);
  const { limit, backoffSeconds } = outcome.retry ?? {
    limit: MAX_TASK_RETRIES,
    backoffSeconds: FIRST_BACKOFF_SECONDS * 2 ** task.retries,
  };
  if (!outcome.retryable || task.retries >= limit)
    return { ...task, status: 'failed', error: outcome.error, completed_at: now };
  return requeued(task, { error: outcome.error, retries: task.retries + 1 }, backoffSeconds, now);
}

/** Requeues a task with a delay, after its holder reported a failure or returned the task. */
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
    lapsed_claims: task.lapsed_claims.filter((expired) => expired.claim_epoch !== task.claim_epoch),
    ...(backoffSeconds > 0 && { retry_at: addSeconds(now, backoffSeconds), blockers: task.blockers + 1 }),
  };
}

function sameOutcome(task: Task, outcome: ReportedOutcome): boolean {
  if (outcome.kind === 'returned') return false;
  if (outcome.kind === 'failed') return task.status === 'failed' && task.error === outcome.error;
  const isThere = task.status === 'done' || task.parts_awaited !== undefined || isVerifying(task);
  return isThere && sameResult(task, outcome.result) && task.reviews?.verdict === outcome.verdict;
}

function sameResult({ result }: Task, reported: TaskResult): boolean {
  return JSON.stringify(result) === JSON.stringify(reported);
}

/**
 * Returns whether the report is that of a claim whose result was sent back. Without a claim epoch, a report of the same
 * author with the same result is such a report, because nothing was corrected.
 */
function isSentBackResult(task: Task, { agent_id, claim_epoch: epoch }: Claimant, outcome: ReportedOutcome): boolean {
  const { sent_back: corrections, claim } = task;
  if (outcome.kind !== 'done' || corrections.length === 0 || isClosed(task.status) || isVerifying(task)) return false;
  const own = corrections.filter((one) => one.agent_id === agent_id);
  if (epoch !== undefined && epoch !== claim?.claim_epoch) return own.some((one) => one.claim_epoch === epoch);
  return task.coding === undefined && corrections.at(-1)?.agent_id === agent_id && sameResult(task, outcome.result);
}

function isClaimOf(claim: ExpiredClaim, { agent_id, claim_epoch: epoch }: Claimant): boolean {
  return claim.agent_id === agent_id && (epoch === undefined || epoch === claim.claim_epoch);
}

function currentClaim({ claim }: Task, claimant: Claimant): Claim | undefined {
  return claim && isClaimOf({ agent_id: claim.claimed_by, claim_epoch: claim.claim_epoch }, claimant)
    ? claim
    : undefined;
}

function expiredClaim(task: Task, claimant: Claimant): ExpiredClaim | undefined {
  return task.lapsed_claims.findLast((expired) => isClaimOf(expired, claimant));
}

export function invalidTransition(
  task: Task,
  verb: string,
  agentId?: string,
  suggestion = suggestionFor(task, agentId),
): MusterError {
  const holder = task.claim?.claimed_by;
  const by = holder === undefined ? '' : holder === agentId ? ', held by you' : `, held by "${holder}"`;
  const blocked = task.status === 'available' && task.blockers > 0 ? ' but blocked' : '';
  // The error of a cancelled task contains who cancelled the task and why.
  const why = task.status === 'cancelled' && task.error !== undefined ? ` ${task.error}` : '';
  return new MusterError('CONFLICT', `Task "${task.id}" cannot ${verb}: it is ${task.status}${blocked}${by}.${why}`, {
    field: 'task_id',
    reason: holder !== undefined && holder !== agentId ? 'NOT_HOLDER' : 'WRONG_STATE',
    suggestion,
  });
}

function suggestionFor(task: Task, agentId: string | undefined): string {
  if (isVerifying(task))
    return 'It has no holder: its result is being verified. coordination.retry_task with comments sends it back.';
  if (isClosed(task.status)) return 'Closed tasks are final. Claim another with coordination.claim_task.';
  if (task.status === 'available') return 'Claim the task first with coordination.claim_task.';
  if (task.claim?.claimed_by !== agentId) return 'Only the holder of a task can report on it. Claim another task.';
  if (task.status === 'claimed')
    return `Set ${task.coding ? 'epoch to the value that coding.claim_task' : 'claim_epoch to the value that coordination.claim_task'} returned.`;
  return `Report its outcome with ${task.coding ? 'coding.end_task' : 'coordination.complete_task or coordination.fail_task'}.`;
}

// Tasks that have a result but are only done once all their parts are done. Source: docs/semantics.md#one-graph.

/** Stores the result and sets the task to waiting. The holder is released, while the parts of the task continue. */
export function awaitParts(
  { claim: _relieved, ...task }: Task,
  { claimed_by: agent_id, claim_epoch }: Claim,
  result: TaskResult,
  since: Date,
): Task {
  return { ...task, status: 'waiting', result, parts_awaited: { agent_id, claim_epoch, since, failed: [] } };
}

/**
 * After a part changed, completes the task that waits for its parts, or updates the task's list of failed parts.
 * Returns the same object if nothing changes.
 * @param below number of open parts, and ids of failed parts; cancelled parts are ignored
 */
export function partsChanged(
  task: Task,
  { open, failed }: { readonly open: number; readonly failed: readonly string[] },
  now: Date,
): Task {
  const { parts_awaited: awaited } = task;
  if (task.status !== 'waiting' || awaited === undefined) return task;
  if (open === 0 && failed.length === 0) return partsDone(task, awaited, now);
  if (JSON.stringify(failed) === JSON.stringify(awaited.failed)) return task;
  return { ...task, parts_awaited: { ...awaited, failed } };
}

function partsDone(task: Task, awaited: NonNullable<Task['parts_awaited']>, now: Date): Task {
  const { acceptance, result } = task;
  if (acceptance === undefined || result === undefined) return { ...task, status: 'done', completed_at: now };
  const { agent_id: claimed_by, claim_epoch, since: claimed_at, branch } = awaited;
  const author = { claimed_by, claim_epoch, claimed_at, lease_seconds: DEFAULT_LEASE_SECONDS };
  return handIn(task, acceptance, { by: author, result, branch }, now);
}

/** Returns whether this claimant reported the result with which the task waits for its parts or its proof. */
export function hasReported({ parts_awaited, proof }: Task, { agent_id, claim_epoch: epoch }: Claimant): boolean {
  const reported = parts_awaited ?? proof;
  return reported?.agent_id === agent_id && (epoch === undefined || epoch === reported.claim_epoch);
}
