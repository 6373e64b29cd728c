/** What becomes of a coding task when an attempt at it ends. Pure. Source: docs/semantics.md#coding. */

import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import {
  asCodingTask,
  backoffSeconds,
  type Claimant,
  type CodingTask,
  type Commit,
  cancelTask,
  type Failure,
  type FailureClass,
  finishTask,
  isClosed,
  isRetryable,
  MAX_ATTEMPTS,
  type PastAttempt,
  programOf,
  type ReportedOutcome,
  reportOutcome,
  type TaskOutcome,
  type TaskResult,
} from '../../coordination/index.ts';
import { codingStatus } from './task.ts';

export interface EndReport {
  readonly status: 'completed' | 'failed';
  /** Any JSON; undefined where there is none. */
  readonly result?: unknown;
  readonly failure?:
    | {
        readonly class: FailureClass;
        readonly message: string;
        readonly retryable?: boolean | undefined;
      }
    | undefined;
}

export interface Ended {
  readonly task: CodingTask;
  readonly now: Date;
  readonly outcome: 'ended' | 'retried' | 'repeated' | 'kept' | 'late';
}

/** An end, and what it does to the queue where it does something. */
export interface Ending extends Ended {
  readonly effect?: TaskOutcome;
}

const MAX_SUMMARY_LENGTH = 20_000;
const MAX_FILES = 200;
const MAX_COMMITS = 20;
const MAX_ATTEMPTS_KEPT = 20;

/** What a runner's result has that others are shown at once. Whatever else it is, it is kept as it came. */
const summarised = z.object({
  summary: z.string().optional().catch(undefined),
  commits: z
    .array(z.object({ sha: z.string().max(100), subject: z.string().max(1000) }))
    .optional()
    .catch(undefined),
  files: z
    .array(z.object({ path: z.string().max(1000) }))
    .optional()
    .catch(undefined),
});

/**
 * The end that the holder of a claim reports, or one whose lease has run out.
 * @throws MusterError CONFLICT where the claim is not the caller's
 */
export function endByRunner(task: CodingTask, claimant: Claimant, report: EndReport, now: Date): Ending {
  const { claim, coding } = task;
  const isTheirs = claim?.agentId === claimant.agentId && claim.epoch === claimant.epoch;
  if (isTheirs && isClosed(task.status) && report.result !== undefined && coding.result === undefined) {
    return { task, now, outcome: 'kept' };
  }
  const effect = reportOutcome(task, claimant, outcomeOf(task, report), now);
  const settled = asCodingTask(effect.task);
  if (effect.kind !== 'accepted') return { task: settled, now, outcome: effect.kind, effect };
  const epoch = claimant.epoch ?? claim?.epoch ?? task.epoch;
  const failure = failureOf(report);
  if (settled.status !== 'available') {
    return accepted(withFailure(settled, failure), now, 'ended');
  }
  const past = { epoch, agentId: claimant.agentId, endedAt: now, failure, commits: commitsOf(report.result) };
  return accepted(queuedAgain(settled, past, now), now, 'retried');
}

/**
 * The end that its creator or a leader decides, whoever holds the task.
 * @throws MusterError CONFLICT where it has ended otherwise
 */
export function endByDecision(task: CodingTask, report: EndReport, by: string, now: Date): Ending {
  if (isClosed(task.status)) {
    if (codingStatus(task.status) === report.status) return { task, now, outcome: 'repeated' };
    throw alreadyEnded(task);
  }
  if (report.status === 'completed') {
    const { task: done } = finishTask(task, resultOf(report), now);
    return accepted(withFailure(asCodingTask(done), undefined), now, 'ended');
  }
  const failure = failureOf(report) ?? { class: 'cancelled' as const, message: `Ended by ${by}.` };
  const cancelled = asCodingTask(cancelTask(task, failure.message, now));
  return accepted(withFailure(cancelled, failure), now, 'ended');
}

/** Takes the task from a runner that has fallen silent. */
export function endByLeaseExpiry(task: CodingTask, now: Date): Ending {
  const { claim } = task;
  if (claim === undefined) throw new Error(`Task ${task.id} has no runner to lose.`);
  const failure: Failure = {
    class: 'runner_lost',
    message: `Nothing was heard of the runner "${claim.agentId}" for ${claim.leaseSeconds} seconds.`,
  };
  const outcome = failed(task, failure, undefined);
  const effect = reportOutcome(task, { agentId: claim.agentId, epoch: claim.epoch }, outcome, now);
  const settled = asCodingTask(effect.task);
  if (settled.status !== 'available') return accepted(withFailure(settled, failure), now, 'ended');
  const past = { epoch: claim.epoch, agentId: claim.agentId, endedAt: now, failure, commits: [] };
  // It may come back, with all that it has done, before another one has begun.
  const lapsed = { agentId: claim.agentId, epoch: claim.epoch };
  const released = { ...settled, lapsedClaims: [...settled.lapsedClaims, lapsed] };
  return accepted(queuedAgain(released, past, now), now, 'retried');
}

/** Gives up on a runner: nobody has come for it. */
export function endByQueueExpiry(task: CodingTask, now: Date): Ending {
  const message = `No runner had claimed it within ${task.coding.queueSeconds} seconds. Start one that has ${programOf(task.coding.tool)} (npm run runner, docs/guides/runner.md), then create the task again.`;
  const open = cancelTask(task, message, now);
  const expired = asCodingTask({ ...open, status: 'failed' });
  return accepted(withFailure(expired, { class: 'queue_expired', message }), now, 'ended');
}

function accepted(task: CodingTask, now: Date, outcome: 'ended' | 'retried'): Ending {
  return { task, now, outcome, effect: { kind: 'accepted', task } };
}

function outcomeOf(task: CodingTask, report: EndReport): ReportedOutcome {
  if (report.status === 'completed') return { kind: 'done', result: resultOf(report) };
  const failure = failureOf(report);
  if (failure === undefined)
    return { kind: 'failed', error: summaryOf(report) ?? 'Failed.', retryable: false };
  return failed(task, failure, report.failure?.retryable);
}

function failed(task: CodingTask, failure: Failure, wanted: boolean | undefined): ReportedOutcome {
  return {
    kind: 'failed',
    error: failure.message,
    retryable: isRetryable(failure.class) && wanted !== false,
    retry: {
      limit: MAX_ATTEMPTS - 1,
      backoffSeconds: backoffSeconds(failure.class, task.retries + 1),
    },
  };
}

function failureOf({ failure }: EndReport): Failure | undefined {
  return failure && { class: failure.class, message: failure.message };
}

function withFailure(task: CodingTask, failure: Failure | undefined): CodingTask {
  const { failure: _former, ...coding } = task.coding;
  return { ...task, coding: failure === undefined ? coding : { ...coding, failure } };
}

function queuedAgain(
  task: CodingTask,
  attempt: Omit<PastAttempt, 'failure'> & { readonly failure: Failure | undefined },
  now: Date,
): CodingTask {
  const { failure } = attempt;
  if (failure === undefined) throw new Error(`Task ${task.id} is retried without a failure.`);
  const { coding } = withFailure(task, failure);
  const attempts = [...coding.attempts, { ...attempt, failure }].slice(-MAX_ATTEMPTS_KEPT);
  const from = task.retryAt ?? now;
  const queueEndsAt = new Date(from.getTime() + coding.queueSeconds * 1000);
  return { ...task, coding: { ...coding, attempts, queueEndsAt } };
}

function resultOf(report: EndReport): TaskResult {
  const { files } = summarised.safeParse(report.result).data ?? {};
  return {
    output: summaryOf(report) ?? 'Completed.',
    ...(files && { filesModified: files.slice(0, MAX_FILES).map(({ path }) => path) }),
  };
}

function summaryOf({ result }: EndReport): string | undefined {
  const summary = typeof result === 'string' ? result : summarised.safeParse(result).data?.summary;
  const text = summary?.trim();
  return text === undefined || text === ''
    ? undefined
    : text.slice(0, MAX_SUMMARY_LENGTH).replace(/\p{Surrogate}$/u, '');
}

function commitsOf(result: unknown): readonly Commit[] {
  return (summarised.safeParse(result).data?.commits ?? []).slice(-MAX_COMMITS);
}

function alreadyEnded(task: CodingTask): MusterError {
  const status = codingStatus(task.status);
  return new MusterError('CONFLICT', `Task "${task.id}" has ended already: it is ${status}.`, {
    field: 'status',
    reason: 'WRONG_STATE',
    suggestion: 'An ended task is final: create another one.',
  });
}
