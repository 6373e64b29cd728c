/** Ends attempts at coding tasks, and ends coding tasks. Source: docs/semantics.md#coding. */
import { z } from 'zod';
import type { Principal } from '../../../identity/rules/principal.ts';
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
  type HandedInWork,
  handInFor,
  isClosed,
  isRetryable,
  isVerifying,
  MAX_CODING_ATTEMPTS,
  MAX_STORED_ATTEMPTS,
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
import { codingStatus, type EndedTask, type EndReport, type ReportedFailure } from './task.ts';

const MAX_SUMMARY_LENGTH = 20_000;
const MAX_FILES = 200;
const MAX_COMMITS = 20;
const tokens = z.number().int().min(0).max(1e12).default(0);

/** The fields of a runner's result that Muster reads. The result is stored with all its fields. */
const summarized = z
  .object({
    summary: z.string().optional().catch(undefined),
    branch: z.string().optional().catch(undefined),
    commits: z.array(z.object({ sha: z.string().max(100), subject: z.string().max(1000) })).catch([]),
    // Older runners do not report the field cacheWrite.
    tokens: z
      .object({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens })
      .optional()
      .catch(undefined),
    costUsd: z.number().min(0).max(1e6).optional().catch(undefined),
    acceptance: z.object({ command: z.string(), exitCode: z.number().optional() }).optional().catch(undefined),
    head: z.string().max(100).optional().catch(undefined),
    files: z
      .array(z.object({ path: z.string().max(1000) }))
      .optional()
      .catch(undefined),
  })
  .catch({ commits: [] });

/** Returns the end that the holder reports. @throws MusterError CONFLICT if the caller does not have the claim */
export function endByRunner(task: CodingTask, claimant: Claimant, report: EndReport, now: Date): EndedTask {
  requireReturnable(report);
  const { claim, coding } = task;
  const isTheirs = claim?.claimed_by === claimant.agent_id && claim.claim_epoch === claimant.claim_epoch;
  if (isTheirs && isClosed(task.status) && report.result !== undefined && coding.result === undefined)
    return { task: asCodingTask(withRecordedCost(task, report.result)), now, outcome: 'kept' };
  const isReturn = returnDelay(report) !== undefined;
  const held = (report.status === 'failed' && restoredTask(task, claimant, now)) || task;
  const { kind, task: reported } = reportOutcome(held, claimant, outcomeOf(held, report), now);
  if (kind !== 'accepted') {
    // The usage of an attempt is charged once, even if its end is reported late several times.
    const isFirst = kind === 'late' && task.late_result?.claim_epoch !== claimant.claim_epoch;
    const late = isFirst ? withRecordedCost(reported, report.result) : reported;
    return { task: asCodingTask(late), now, outcome: kind };
  }
  const worked = onReportedBranch(withRecordedCost(reported, report.result), report.result);
  if (isReturn) return returnedTask(held, worked, report.failure, now);
  const epoch = claimant.claim_epoch ?? claim?.claim_epoch ?? task.claim_epoch;
  const commits = summarized.parse(report.result).commits.slice(-MAX_COMMITS);
  const attempt = { claim_epoch: epoch, agent_id: claimant.agent_id, ended_at: now, commits };
  return attemptEnded(worked, attempt, report.failure);
}

/** Stores the branch name with which a runner replaced an unusable one. See runner/src/git/start/branchName.ts. */
function onReportedBranch(task: Task, result: unknown): Task {
  const { coding } = asCodingTask(task);
  const { branch } = summarized.parse(result);
  const replacement = coding.branch.replace(/^task\//, 'task-');
  if (branch === undefined || replacement === coding.branch) return task;
  if (branch !== replacement && branch !== `${replacement}-2`) return task;
  return asCodingTask({ ...task, coding: { ...coding, branch } });
}

/** Returns the task with the usage that its runner reports: tokens, and the cost if the model is metered. */
function withRecordedCost(task: Task, result: unknown): Task {
  const { tokens: used, costUsd = 0 } = summarized.parse(result);
  if (used === undefined && costUsd === 0) return task;
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = used ?? {};
  return withSpent(task, { input_tokens: input + cacheRead + cacheWrite, output_tokens: output, cost_usd: costUsd });
}

/** Returns the end that a creator or leader requests. @throws MusterError CONFLICT if the task ended differently */
export function endByDecision(
  task: CodingTask,
  report: EndReport,
  { kind, agent_id, uid }: Pick<Principal, 'kind' | 'agent_id' | 'uid'>,
  now: Date,
): EndedTask {
  const by = agent_id ?? uid;
  if (returnDelay(report) !== undefined) throw notReturnable(task);
  if (isClosed(task.status)) {
    if (codingStatus(task.status) === report.status) return { task, now, outcome: 'repeated' };
    throw alreadyEnded(task);
  }
  if (report.status === 'completed') {
    const result = resultOf(report.result);
    const { acceptance } = task;
    if (acceptance === undefined || kind === 'person')
      return endedTask(finishTask(task, result, { step: 'person', by, at: now }, now).task, now);
    return isVerifying(task)
      ? { task, now, outcome: 'repeated' }
      : endedTask(handInFor({ ...task, acceptance }, by, result, now), now);
  }
  const failure = report.failure ?? { class: 'cancelled' as const, message: `Ended by ${by}.` };
  return endedTask(cancelTask(task, failure.message, now), now, failure);
}

function endByLeaseExpiry(task: CodingTask, now: Date): EndedTask {
  const { claim } = task;
  if (claim === undefined) throw new Error(`Task ${task.id} has no claim.`);
  const message = `The runner "${claim.claimed_by}" sent no heartbeat for ${claim.lease_seconds} seconds.`;
  const failure: Failure = { class: 'runner_lost', message };
  const expired = { agent_id: claim.claimed_by, claim_epoch: claim.claim_epoch };
  const { task: lost } = reportOutcome(task, expired, failedTask(task, failure), now);
  // The runner can continue the work if it reconnects before another runner claims the task.
  const lapsedClaims = [...lost.lapsed_claims, ...(lost.status === 'available' ? [expired] : [])];
  return attemptEnded({ ...lost, lapsed_claims: lapsedClaims }, { ...expired, ended_at: now, commits: [] }, failure);
}

function endByQueueExpiry(task: CodingTask, now: Date): EndedTask {
  const message = `No runner claimed the task within ${task.coding.queue_seconds} seconds. Start a runner that has ${programOf(task.coding.tool)} (npm run runner, docs/guides/runner.md), then create the task again.`;
  const expired: Task = { ...cancelTask(task, message, now), status: 'failed' };
  return endedTask(expired, now, { class: 'queue_expired', message });
}

/** Returns the task after an attempt has ended: the task has ended too, or is requeued. */
function attemptEnded(task: Task, attempt: Omit<PastAttempt, 'failure'>, failure: Failure | undefined): EndedTask {
  const { ended_at: now } = attempt;
  if (task.status !== 'available') return endedTask(task, now, failure);
  if (failure === undefined) throw new Error(`Task ${task.id} is retried without a failure.`);
  const { coding } = asCodingTask(task);
  const attempts = [...coding.attempts, { ...attempt, failure }].slice(-MAX_STORED_ATTEMPTS);
  const queue_ends_at = new Date((task.retry_at ?? now).getTime() + coding.queue_seconds * 1000);
  return { task: { ...task, coding: { ...coding, failure, attempts, queue_ends_at } }, now, outcome: 'retried' };
}

/** @param failure the reason, if the task failed; without it, the failure of an earlier attempt is removed */
function endedTask(task: Task, now: Date, failure?: Failure): EndedTask {
  const { failure: _former, ...coding } = asCodingTask(task).coding;
  return { task: { ...task, coding: { ...coding, ...(failure && { failure }) } }, now, outcome: 'ended' };
}

function outcomeOf(task: CodingTask, { status, result, failure }: EndReport): ReportedOutcome {
  if (status === 'completed' || isSentBack(task, failure))
    return { kind: 'done', result: resultOf(result), work: workOf(task, result) };
  const afterSeconds = returnDelay({ status, failure });
  if (failure && afterSeconds !== undefined) return { kind: 'returned', error: failure.message, afterSeconds };
  if (failure) return failedTask(task, failure);
  return { kind: 'failed', error: summaryOf(result) ?? 'Failed.', retryable: false };
}

/** Returns whether a failed attempt is sent back: the command of the acceptance failed, or the branch does not merge. */
export function isSentBack({ acceptance }: Task, failure: ReportedFailure | undefined): boolean {
  return acceptance !== undefined && failure?.class === 'acceptance_failed';
}

/** Returns where the work is. The command counts as passed if the runner that holds the task has run the very text. */
function workOf({ acceptance, claim, coding }: CodingTask, report: unknown): HandedInWork {
  const { branch = coding.branch, commits, head, acceptance: checked } = summarized.parse(report);
  const isChecked = claim?.claimed_by_runner && checked?.exitCode === 0 && checked.command === acceptance?.command;
  return {
    branch,
    commit: head ?? commits.at(-1)?.sha,
    commits: commits.slice(-MAX_COMMITS),
    passed: isChecked ? [{ step: 'command', by: claim.claimed_by, at: claim.claimed_at }] : [],
  };
}

/** Returns a command run with the commit that its runner checked. */
export function withCheckedCommit(task: CodingTask, result: unknown): CodingTask {
  const { head } = summarized.parse(result);
  if (task.reviews === undefined || head === undefined) return task;
  return { ...task, reviews: { ...task.reviews, commit: head } };
}

function failedTask(task: CodingTask, failure: ReportedFailure): ReportedOutcome {
  return {
    kind: 'failed',
    error: failure.message,
    retryable: isRetryable(failure.class) && failure.retryable !== false,
    retry: { limit: MAX_CODING_ATTEMPTS - 1, backoffSeconds: backoffSeconds(failure.class, task.retries + 1) },
  };
}

function resultOf(result: unknown): TaskResult {
  const { files } = summarized.parse(result);
  return {
    output: summaryOf(result) ?? 'Completed.',
    ...(files && { files_modified: files.slice(0, MAX_FILES).map(({ path }) => path) }),
  };
}

function summaryOf(result: unknown): string | undefined {
  const summary = (typeof result === 'string' ? result : summarized.parse(result).summary)?.trim();
  return summary ? summary.slice(0, MAX_SUMMARY_LENGTH).replace(/\p{Surrogate}$/u, '') : undefined;
}

function alreadyEnded(task: CodingTask): MusterError {
  const status = codingStatus(task.status);
  return new MusterError('CONFLICT', `Task "${task.id}" has already ended; its status is ${status}.`, {
    field: 'status',
    reason: 'WRONG_STATE',
    suggestion: 'Ended tasks are final. Create another task.',
  });
}

/** Maximum size of a result's JSON in bytes. The specification sets no limit. Source: docs/semantics.md#coding. */
const MAX_RESULT_BYTES = 1024 * 1024;

/** One part of a result: at most 300,000 characters, which fit into a document. It never splits a surrogate pair. */
const RESULT_PART = /.{0,299999}[^\ud800-\udbff]/gs;

/** Stores the result of a task, even if it ended before. @throws MusterError VALIDATION_ERROR if it is too large */
export function withResult(end: EndedTask, result: unknown): { end: EndedTask; changes: CodingChange[] } {
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

/** Returns all changes for the end of a task: those of the task, its holder, its dependents and the queue. */
export async function endingChanges(
  sessions: CoordinationPorts['sessions'],
  before: CodingTask,
  { task, now, outcome }: EndedTask,
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

/** Returns the changes with which the sweep ends expired leases and expired waits for a runner. */
export function codingExpiry(sessions: CoordinationPorts['sessions']): CodingExpiry {
  return {
    leaseExpired: ({ value, version }, now) => endingChanges(sessions, value, endByLeaseExpiry(value, now), version),
    queueExpired: ({ value, version }, now) => endingChanges(sessions, value, endByQueueExpiry(value, now), version),
  };
}

const RESTORED_LEASE_SECONDS = 120;

/** Returns the task with its last holder's expired lease restored; undefined if the task was claimed or released. */
export function restoredTask(before: CodingTask, claimant: Claimant, now: Date): CodingTask | undefined {
  const task = restoreClaim(before, claimant, RESTORED_LEASE_SECONDS, now);
  if (task?.claim === undefined) return undefined;
  const { failure: _not, ...coding } = before.coding;
  return {
    ...task,
    claim: { ...task.claim, claimed_by_runner: true },
    retries: Math.max(0, before.retries - 1),
    coding: { ...coding, attempts: coding.attempts.filter(({ claim_epoch: epoch }) => epoch !== before.claim_epoch) },
  };
}

/** Returns the seconds until a returned task is available; undefined if the report ends the attempt. */
export function returnDelay({ status, failure }: EndReport): number | undefined {
  return status === 'failed' ? failure?.returnAfterSeconds : undefined;
}

/** Checks a report. @throws MusterError VALIDATION_ERROR if it returns the task but also forbids another attempt */
export function requireReturnable({ failure }: EndReport): void {
  if (failure?.returnAfterSeconds === undefined || failure.retryable !== false) return;
  throw new MusterError('VALIDATION_ERROR', 'Set failure.retryable: false or failure.returnAfterSeconds, not both.', {
    field: 'failure.retryable',
    reason: 'RETURNED',
    suggestion: 'To return the task, omit failure.retryable. To end the task, omit failure.returnAfterSeconds.',
  });
}

/**
 * Returns the task after its runner returned it. The claim is not listed as an attempt and does not count as a retry.
 * The time at which the wait for a runner expires moves by the duration of the claim, so a return adds no time.
 */
export function returnedTask(held: CodingTask, task: Task, failure: Failure | undefined, now: Date): EndedTask {
  if (failure === undefined) throw new Error(`Task ${task.id} is returned without a failure.`);
  const { coding } = asCodingTask(task);
  const heldMs = held.claim === undefined ? 0 : Math.max(0, now.getTime() - held.claim.claimed_at.getTime());
  const queue_ends_at = new Date(coding.queue_ends_at.getTime() + heldMs);
  const reason = { class: failure.class, message: failure.message };
  const returned = { ...coding, failure: reason, returns: coding.returns + 1, queue_ends_at };
  return { task: { ...task, coding: returned }, now, outcome: 'returned' };
}

/** Returns the error for a caller that does not hold the task. */
export function notReturnable({ id }: CodingTask): MusterError {
  return new MusterError('CONFLICT', `You cannot return task "${id}": you do not hold it.`, {
    field: 'failure.returnAfterSeconds',
    reason: 'NOT_HOLDER',
    suggestion: 'If you are its runner, send the epoch of your claim. Otherwise, use coordination.release_task.',
  });
}
