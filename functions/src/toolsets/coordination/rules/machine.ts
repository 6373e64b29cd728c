/**
 * The task's state machine: available → claimed → in_progress → done | failed, with leases, epochs and
 * late results; coding tasks also wait, and are cancelled, as are those of runs. Pure: every transition gives a new task or throws what stands in its way.
 * Source: docs/semantics.md#coordination.
 */
import { MusterError } from '../../../kernel/errors.ts';
import { type Claim, isClosed, isHeld, type LapsedClaim, type Task, type TaskResult } from './task.ts';

/** How often a task may fail retryably before a failure is final. */
export const MAX_RETRIES = 3;

/** The wait before the first retry, in seconds; it doubles with each. */
const FIRST_BACKOFF_SECONDS = 30;

/** How many former holders a task remembers. */
const MAX_LAPSED_CLAIMS = 20;

/** Who reports an outcome. `epoch`, where given, must be the claim's: an older one never overwrites. */
export interface Claimant {
  readonly agentId: string;
  readonly epoch?: number | undefined;
}

export type ReportedOutcome =
  | { readonly kind: 'done'; readonly result: TaskResult }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly retryable: boolean;
      /** Where it is another than the usual one. */
      readonly retry?: Retry;
    };

interface Retry {
  /** How often the task may be retried in all. */
  readonly limit: number;
  /** How long it waits before this one; 0 makes it claimable at once. */
  readonly backoffSeconds: number;
}

/** What became of a reported outcome. */
export type TaskOutcome =
  /** The task is closed, or waits for its retry. */
  | { readonly kind: 'accepted'; readonly task: Task }
  /** The same holder had reported the same before. */
  | { readonly kind: 'repeated'; readonly task: Task }
  /** Somebody else has claimed it since: kept as the task's late result. */
  | { readonly kind: 'late'; readonly task: Task };

const laterBySeconds = (from: Date, seconds: number): Date => new Date(from.getTime() + seconds * 1000);

export function claimTask(task: Task, agentId: string, leaseSeconds: number, now: Date): Task {
  if (task.status !== 'available' || task.blockers > 0) throw notPossible(task, 'be claimed');
  const epoch = task.epoch + 1;
  const claim: Claim = {
    agentId,
    epoch,
    claimedAt: now,
    leaseSeconds,
    leaseExpiresAt: laterBySeconds(now, leaseSeconds),
  };
  return { ...task, status: 'claimed', epoch, claim };
}

/** What the same claim has started already stays the very same task. */
export function startTask(task: Task, claimant: Claimant, now: Date): Task {
  const claim = currentClaim(task, claimant);
  if (claim !== undefined && task.status === 'in_progress') return task;
  if (claim === undefined || task.status !== 'claimed')
    throw notPossible(task, 'be started', claimant.agentId);
  const renewed = { ...claim, startedAt: now, leaseExpiresAt: laterBySeconds(now, claim.leaseSeconds) };
  return { ...task, status: 'in_progress', claim: renewed };
}

/** Somebody who may decide about it says that it has begun. The lease is left: only its holder keeps it. */
export function noteStart(task: Task, now: Date): Task {
  const { claim } = task;
  if (claim === undefined || task.status !== 'claimed') throw notPossible(task, 'be started');
  return { ...task, status: 'in_progress', claim: { ...claim, startedAt: now } };
}

/** The agent is done and its session is still alive. */
export function waitTask(task: Task, claimant: Claimant): Task {
  if (task.status !== 'in_progress' || currentClaim(task, claimant) === undefined)
    throw notPossible(task, 'wait', claimant.agentId);
  return { ...task, status: 'waiting' };
}

/** Ends an open task for somebody other than its holder, who hears of it at the next call. */
export function cancelTask(task: Task, error: string, now: Date): Task {
  if (isClosed(task.status)) throw notPossible(task, 'be cancelled');
  const open = task.retryAt === undefined ? task : endBackoff(task);
  return { ...open, status: 'cancelled', error, closedAt: now };
}

/** Gives the task back to the last holder whose lease ran out; undefined where somebody has claimed it since. */
export function restoreClaim(
  task: Task,
  claimant: Claimant,
  leaseSeconds: number,
  now: Date,
): Task | undefined {
  const lapsed = lapsedClaim(task, claimant);
  if (task.status !== 'available' || lapsed?.epoch !== task.epoch || task.blockers > 0) return undefined;
  const claim: Claim = {
    ...lapsed,
    claimedAt: now,
    leaseSeconds,
    leaseExpiresAt: laterBySeconds(now, leaseSeconds),
    startedAt: now,
  };
  const lapsedClaims = task.lapsedClaims.filter((one) => one !== lapsed);
  return { ...task, status: 'in_progress', claim, lapsedClaims };
}

/** Closes the task with an outcome, hands it back for a retry, or keeps the outcome as a late result. */
export function reportOutcome(
  task: Task,
  claimant: Claimant,
  outcome: ReportedOutcome,
  now: Date,
): TaskOutcome {
  if (isHeld(task.status) && currentClaim(task, claimant)) {
    return { kind: 'accepted', task: applyOutcome(task, outcome, now) };
  }
  if (isClosed(task.status) && currentClaim(task, claimant)) {
    if (sameOutcome(task, outcome)) return { kind: 'repeated', task };
    throw notPossible(task, outcome.kind === 'done' ? 'be completed' : 'be failed', claimant.agentId);
  }
  const lapsed = lapsedClaim(task, claimant);
  if (lapsed === undefined) {
    throw notPossible(task, outcome.kind === 'done' ? 'be completed' : 'be failed', claimant.agentId);
  }
  if (task.status === 'available' && lapsed.epoch === task.epoch) {
    const claim: Claim = { ...lapsed, claimedAt: now, leaseSeconds: 0, leaseExpiresAt: now };
    return { kind: 'accepted', task: applyOutcome({ ...task, claim }, outcome, now) };
  }
  return { kind: 'late', task: withLateResult(task, lapsed, outcome, now) };
}

/**
 * Closes the task as done because its result is there, whoever reports it: for its holder, for the last one
 * whose lease lapsed, or for nobody where it was never claimed. A closed task stays as it is.
 */
export function finishTask(task: Task, result: TaskResult, now: Date): TaskOutcome {
  if (isClosed(task.status)) return { kind: 'repeated', task };
  const lapsed = task.lapsedClaims.findLast(({ epoch }) => epoch === task.epoch);
  const claim: Claim | undefined =
    task.claim ?? (lapsed && { ...lapsed, claimedAt: now, leaseSeconds: 0, leaseExpiresAt: now });
  const waiting = task.retryAt === undefined ? task : endBackoff(task);
  const finished = applyOutcome({ ...waiting, ...(claim && { claim }) }, { kind: 'done', result }, now);
  return { kind: 'accepted', task: finished };
}

/** Takes the task from a holder whose lease ran out. */
export function releaseTask(task: Task): Task {
  const { claim, ...rest } = task;
  if (claim === undefined || !isHeld(task.status)) throw notPossible(task, 'be released');
  const lapsed: LapsedClaim = { agentId: claim.agentId, epoch: claim.epoch };
  const lapsedClaims = [...task.lapsedClaims, lapsed].slice(-MAX_LAPSED_CLAIMS);
  return { ...rest, status: 'available', lapsedClaims };
}

/** Extends the lease of a holder that was seen at `seenAt`. */
export function renewLease(task: Task, seenAt: Date): Task {
  if (task.claim === undefined || !isHeld(task.status)) throw notPossible(task, 'be renewed');
  const leaseExpiresAt = laterBySeconds(seenAt, task.claim.leaseSeconds);
  return { ...task, claim: { ...task.claim, leaseExpiresAt } };
}

/** Ends the wait before a retry. */
export function endBackoff(task: Task): Task {
  const { retryAt, ...rest } = task;
  if (retryAt === undefined || task.status !== 'available') throw notPossible(task, 'be retried');
  return { ...rest, blockers: task.blockers - 1 };
}

function applyOutcome(task: Task, outcome: ReportedOutcome, now: Date): Task {
  if (outcome.kind === 'done') {
    const { error: _overcome, ...rest } = task;
    return { ...rest, status: 'done', result: outcome.result, closedAt: now };
  }
  const { limit, backoffSeconds } = outcome.retry ?? {
    limit: MAX_RETRIES,
    backoffSeconds: FIRST_BACKOFF_SECONDS * 2 ** task.retries,
  };
  if (!outcome.retryable || task.retries >= limit) {
    return { ...task, status: 'failed', error: outcome.error, closedAt: now };
  }
  const { claim: _handedBack, ...rest } = task;
  return {
    ...rest,
    status: 'available',
    error: outcome.error,
    retries: task.retries + 1,
    ...(backoffSeconds > 0 && {
      retryAt: laterBySeconds(now, backoffSeconds),
      blockers: task.blockers + 1,
    }),
    lapsedClaims: task.lapsedClaims.filter((lapsed) => lapsed.epoch !== task.epoch),
  };
}

function withLateResult(task: Task, lapsed: LapsedClaim, outcome: ReportedOutcome, now: Date): Task {
  const said = outcome.kind === 'done' ? { result: outcome.result } : { error: outcome.error };
  return { ...task, lateResult: { agentId: lapsed.agentId, epoch: lapsed.epoch, receivedAt: now, ...said } };
}

function sameOutcome(task: Task, outcome: ReportedOutcome): boolean {
  if (outcome.kind === 'failed') return task.status === 'failed' && task.error === outcome.error;
  return task.status === 'done' && JSON.stringify(task.result) === JSON.stringify(outcome.result);
}

function currentClaim(task: Task, claimant: Claimant): Claim | undefined {
  const { claim } = task;
  if (claim === undefined || claim.agentId !== claimant.agentId) return undefined;
  return claimant.epoch === undefined || claimant.epoch === claim.epoch ? claim : undefined;
}

function lapsedClaim(task: Task, claimant: Claimant): LapsedClaim | undefined {
  return task.lapsedClaims.findLast(
    (lapsed) =>
      lapsed.agentId === claimant.agentId &&
      (claimant.epoch === undefined || claimant.epoch === lapsed.epoch),
  );
}

function notPossible(task: Task, verb: string, agentId?: string): MusterError {
  const holder = task.claim?.agentId;
  const state = `it is ${task.status}`;
  const by = holder === undefined ? '' : holder === agentId ? ', held by you' : `, held by "${holder}"`;
  const blocked = task.status === 'available' && task.blockers > 0 ? ' and not ready yet' : '';
  return new MusterError('CONFLICT', `Task "${task.id}" cannot ${verb}: ${state}${blocked}${by}.`, {
    field: 'task_id',
    reason: holder !== undefined && holder !== agentId ? 'NOT_HOLDER' : 'WRONG_STATE',
    suggestion: suggestionFor(task, agentId),
  });
}

function suggestionFor(task: Task, agentId: string | undefined): string {
  if (isClosed(task.status)) return 'A closed task is final: claim another one with claim_task.';
  if (task.status === 'available') return 'Claim it first with claim_task.';
  if (task.claim?.agentId !== agentId) return 'Only its holder can report on it: claim another task.';
  const isCoding = task.coding !== undefined;
  if (task.status === 'claimed')
    return `Check ${isCoding ? 'the epoch' : 'claim_epoch'} against the one that claim_task answered.`;
  return `Report its outcome with ${isCoding ? 'end_task' : 'complete_task or fail_task'}.`;
}
