/** How attempts at coding tasks end, and the tasks with them. Source: docs/semantics.md#coding. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import { requireSize, utf8Length } from '../../../kernel/json.ts';
import {
  asCodingTask,
  backoffSeconds,
  type Claimant,
  type CodingExpiry,
  type CodingTask,
  type CoordinationChange,
  type CoordinationPorts,
  cancelTask,
  type Failure,
  finishTask,
  isClosed,
  isRetryable,
  MAX_ATTEMPTS,
  MAX_ATTEMPTS_KEPT,
  outcomeChanges,
  type PastAttempt,
  programOf,
  queueGrowth,
  type ReportedOutcome,
  reportOutcome,
  restoreClaim,
  type Task,
  type TaskResult,
  withSpent,
} from '../../coordination/index.ts';
import type { CodingChange } from './ports.ts';
import { codingStatus, type Ended, type EndReport, type ReportedFailure } from './task.ts';

const MAX_SUMMARY_LENGTH = 20_000;
const MAX_FILES = 200;
const MAX_COMMITS = 20;

const tokens = z.number().int().min(0).max(1e12).default(0);

/** What a runner's result has that others are shown at once. Whatever else it is, it is kept as it came. */
const summarised = z
  .object({
    summary: z.string().optional().catch(undefined),
    branch: z.string().optional().catch(undefined),
    commits: z.array(z.object({ sha: z.string().max(100), subject: z.string().max(1000) })).catch([]),
    // Older runners do not report cacheWrite.
    tokens: z
      .object({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens })
      .optional()
      .catch(undefined),
    costUsd: z.number().min(0).max(1e6).optional().catch(undefined),
    files: z
      .array(z.object({ path: z.string().max(1000) }))
      .optional()
      .catch(undefined),
  })
  .catch({ commits: [] });

/** The end that a claim's holder, or its last one, reports. @throws MusterError CONFLICT where the claim is not the caller's */
export function endByRunner(task: CodingTask, claimant: Claimant, report: EndReport, now: Date): Ended {
  requireReturnable(report);
  const { claim, coding } = task;
  const isTheirs = claim?.claimed_by === claimant.agent_id && claim.claim_epoch === claimant.claim_epoch;
  if (isTheirs && isClosed(task.status) && report.result !== undefined && coding.result === undefined) {
    return { task: asCodingTask(booked(task, report.result)), now, outcome: 'kept' };
  }
  const isReturn = returnAfter(report) !== undefined;
  const held = (report.status === 'failed' && restored(task, claimant, now)) || task;
  const { kind, task: reported } = reportOutcome(held, claimant, outcomeOf(held, report), now);
  if (kind !== 'accepted') {
    // Of an attempt that is reported late more than once, the first report is booked.
    const isFirst = kind === 'late' && task.late_result?.claim_epoch !== claimant.claim_epoch;
    const late = isFirst ? booked(reported, report.result) : reported;
    return { task: asCodingTask(late), now, outcome: kind };
  }
  const worked = onReportedBranch(booked(reported, report.result), report.result);
  if (isReturn) return returned(held, worked, report.failure, now);
  const epoch = claimant.claim_epoch ?? claim?.claim_epoch ?? task.claim_epoch;
  const commits = summarised.parse(report.result).commits.slice(-MAX_COMMITS);
  return attemptEnded(
    worked,
    { claim_epoch: epoch, agent_id: claimant.agent_id, ended_at: now, commits },
    report.failure,
  );
}

/** A runner replaces a branch that the hub chose if another blocks it. Source: `branchNames` in runner/src/git/start/branchName.ts. */
function onReportedBranch(task: Task, result: unknown): Task {
  const { coding } = asCodingTask(task);
  const { branch } = summarised.parse(result);
  const replacement = coding.branch.replace(/^task\//, 'task-');
  if (branch === undefined || replacement === coding.branch) return task;
  if (branch !== replacement && branch !== `${replacement}-2`) return task;
  return asCodingTask({ ...task, coding: { ...coding, branch } });
}

/** The task with what an attempt at it has taken, as its runner reports it: tokens, and money where that was paid by use. */
function booked(task: Task, result: unknown): Task {
  const { tokens: used, costUsd = 0 } = summarised.parse(result);
  if (used === undefined && costUsd === 0) return task;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = used ?? {};
  return withSpent(task, {
    input_tokens: input + cacheRead + cacheWrite,
    output_tokens: output,
    cost_usd: costUsd,
  });
}

/** The end that its creator or a leader decides, whoever holds the task. @throws MusterError CONFLICT if it has ended otherwise */
export function endByDecision(task: CodingTask, report: EndReport, by: string, now: Date): Ended {
  if (returnAfter(report) !== undefined) throw notReturnable(task);
  if (isClosed(task.status)) {
    if (codingStatus(task.status) === report.status) return { task, now, outcome: 'repeated' };
    throw alreadyEnded(task);
  }
  if (report.status === 'completed') return ended(finishTask(task, resultOf(report.result), now).task, now);
  const failure = report.failure ?? { class: 'cancelled' as const, message: `Ended by ${by}.` };
  return ended(cancelTask(task, failure.message, now), now, failure);
}

/** Takes the task from a runner that has fallen silent. */
function endByLeaseExpiry(task: CodingTask, now: Date): Ended {
  const { claim } = task;
  if (claim === undefined) throw new Error(`Task ${task.id} has no runner to lose.`);
  const failure: Failure = {
    class: 'runner_lost',
    message: `Nothing was heard of the runner "${claim.claimed_by}" for ${claim.lease_seconds} seconds.`,
  };
  const lapsed = { agent_id: claim.claimed_by, claim_epoch: claim.claim_epoch };
  const { task: lost } = reportOutcome(task, lapsed, failed(task, failure), now);
  // It may come back, with all that it has done, before another one has begun.
  const lapsedClaims = [...lost.lapsed_claims, ...(lost.status === 'available' ? [lapsed] : [])];
  return attemptEnded(
    { ...lost, lapsed_claims: lapsedClaims },
    { ...lapsed, ended_at: now, commits: [] },
    failure,
  );
}

/** Gives up on a runner: nobody has come for it. */
function endByQueueExpiry(task: CodingTask, now: Date): Ended {
  const message = `No runner had claimed it within ${task.coding.queue_seconds} seconds. Start one that has ${programOf(task.coding.tool)} (npm run runner, docs/guides/runner.md), then create the task again.`;
  const expired: Task = { ...cancelTask(task, message, now), status: 'failed' };
  return ended(expired, now, { class: 'queue_expired', message });
}

/** An attempt is over, which ends the task or puts it into the queue again. */
function attemptEnded(
  task: Task,
  attempt: Omit<PastAttempt, 'failure'>,
  failure: Failure | undefined,
): Ended {
  const { ended_at: now } = attempt;
  if (task.status !== 'available') return ended(task, now, failure);
  if (failure === undefined) throw new Error(`Task ${task.id} is retried without a failure.`);
  const { coding } = asCodingTask(task);
  const attempts = [...coding.attempts, { ...attempt, failure }].slice(-MAX_ATTEMPTS_KEPT);
  const from = task.retry_at ?? now;
  const queueEndsAt = new Date(from.getTime() + coding.queue_seconds * 1000);
  return {
    task: { ...task, coding: { ...coding, failure, attempts, queue_ends_at: queueEndsAt } },
    now,
    outcome: 'retried',
  };
}

/** @param failure why; without one, that of an attempt before is forgotten */
function ended(task: Task, now: Date, failure?: Failure): Ended {
  const { failure: _former, ...coding } = asCodingTask(task).coding;
  return { task: { ...task, coding: { ...coding, ...(failure && { failure }) } }, now, outcome: 'ended' };
}

function outcomeOf(task: CodingTask, { status, result, failure }: EndReport): ReportedOutcome {
  if (status === 'completed') return { kind: 'done', result: resultOf(result) };
  const afterSeconds = returnAfter({ status, failure });
  if (failure && afterSeconds !== undefined)
    return { kind: 'returned', error: failure.message, afterSeconds };
  if (failure) return failed(task, failure);
  return { kind: 'failed', error: summaryOf(result) ?? 'Failed.', retryable: false };
}

function failed(task: CodingTask, failure: ReportedFailure): ReportedOutcome {
  return {
    kind: 'failed',
    error: failure.message,
    retryable: isRetryable(failure.class) && failure.retryable !== false,
    retry: { limit: MAX_ATTEMPTS - 1, backoffSeconds: backoffSeconds(failure.class, task.retries + 1) },
  };
}

function resultOf(result: unknown): TaskResult {
  const { files } = summarised.parse(result);
  return {
    output: summaryOf(result) ?? 'Completed.',
    ...(files && { files_modified: files.slice(0, MAX_FILES).map(({ path }) => path) }),
  };
}

function summaryOf(result: unknown): string | undefined {
  const summary = (typeof result === 'string' ? result : summarised.parse(result).summary)?.trim();
  return summary ? summary.slice(0, MAX_SUMMARY_LENGTH).replace(/\p{Surrogate}$/u, '') : undefined;
}

function alreadyEnded(task: CodingTask): MusterError {
  const status = codingStatus(task.status);
  return new MusterError('CONFLICT', `Task "${task.id}" has ended already: it is ${status}.`, {
    field: 'status',
    reason: 'WRONG_STATE',
    suggestion: 'An ended task is final: create another one.',
  });
}

/** The largest result, in bytes of JSON. Source: the coding specification is silent; docs/semantics.md#coding. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** So many characters fit into a document, whatever they are. Half of a surrogate pair is not Unicode. */
const RESULT_PART = /.{0,299999}[^\ud800-\udbff]/gs;

/** Keeps the result of an attempt that ended the task, or came after its end. @throws MusterError VALIDATION_ERROR if too large */
export function withResult(end: Ended, result: unknown): { end: Ended; changes: CodingChange[] } {
  const { task, outcome } = end;
  if (result === undefined || (outcome !== 'ended' && outcome !== 'kept')) return { end, changes: [] };
  requireSize('A result', 'result', result, MAX_RESULT_BYTES);
  const json = JSON.stringify(result);
  const parts = json.match(RESULT_PART) ?? [];
  const { id, workspace, claim_epoch: epoch } = task;
  const stored = { claim_epoch: epoch, bytes: utf8Length(json), parts: parts.length };
  return {
    end: { ...end, task: { ...task, coding: { ...task.coding, result: stored } } },
    changes: [{ kind: 'storeResult', task: { id, workspace }, epoch, parts }],
  };
}

/** Everything that an end brings about: the task, its holder, its dependents, the queue. */
export async function endingChanges(
  sessions: CoordinationPorts['sessions'],
  before: CodingTask,
  { task, now, outcome }: Ended,
  version: string,
): Promise<CoordinationChange[]> {
  if (outcome === 'repeated') return [];
  if (outcome === 'kept') return [{ kind: 'replaceTask', task, before, version }];
  const kind = outcome === 'late' ? 'late' : 'accepted';
  const changes = outcomeChanges(before, { kind, task }, version, now);
  const frees =
    task.status === 'available' ? task.blockers === 0 : task.status === 'done' && task.dependents.length > 0;
  return frees ? [...changes, ...(await queueGrowth(sessions, task))] : changes;
}

/** The sweep of the queue ends attempts whose runner fell silent, and waits in vain. */
export function codingExpiry(sessions: CoordinationPorts['sessions']): CodingExpiry {
  return {
    leaseExpired: ({ value, version }, now) =>
      endingChanges(sessions, value, endByLeaseExpiry(value, now), version),
    queueExpired: ({ value, version }, now) =>
      endingChanges(sessions, value, endByQueueExpiry(value, now), version),
  };
}

// Tasks that a runner returns, and claims whose runner comes back. Source: docs/semantics.md#coding.

/** The lease of a claim that is restored, in seconds. */
const RESTORED_LEASE_SECONDS = 120;

/** The task in its last holder's hands, whose lease had expired; undefined if it was claimed since, or taken away. */
export function restored(before: CodingTask, claimant: Claimant, now: Date): CodingTask | undefined {
  const task = restoreClaim(before, claimant, RESTORED_LEASE_SECONDS, now);
  if (task?.claim === undefined) return undefined;
  const { failure: _not, ...coding } = before.coding;
  return {
    ...task,
    claim: { ...task.claim, claimed_by_runner: true },
    retries: Math.max(0, before.retries - 1),
    coding: {
      ...coding,
      attempts: coding.attempts.filter(({ claim_epoch: epoch }) => epoch !== before.claim_epoch),
    },
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
  const heldMs = held.claim === undefined ? 0 : Math.max(0, now.getTime() - held.claim.claimed_at.getTime());
  const queueEndsAt = new Date(coding.queue_ends_at.getTime() + heldMs);
  const reason = { class: failure.class, message: failure.message };
  return {
    task: {
      ...task,
      coding: { ...coding, failure: reason, returns: coding.returns + 1, queue_ends_at: queueEndsAt },
    },
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
