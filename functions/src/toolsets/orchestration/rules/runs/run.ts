/** A run and its state changes. Source: docs/decisions/0021-runs-and-workflows.md. */
import { z } from 'zod/mini';
import { type BudgetRefusal, budgetKey } from '../../../../graph/rules/budget.ts';
import { documentCodec, jsonText } from '../../../../kernel/documentCodec.ts';
import type { JournalEntry } from '../calls/attempt.ts';
import { addUsage, STEP_STATUSES, type StepRecord, type StepWork, workOf } from '../steps/step.ts';
import { workflowText } from '../workflows/validation.ts';
import { runDocument } from './runDocument.ts';

export const { toDocument: runToDocument, fromDocument: runFromDocument } = documentCodec(runDocument);

export type Run = ReturnType<typeof runFromDocument>;

/** The document `runs/{runId}/order/1`, written once, as JSON text, because Firestore rejects nested lists. */
export const { toDocument: orderToDocument, fromDocument: orderFromDocument } = documentCodec(
  z.object({
    workflow: workflowText,
    input: z.string(),
    context: jsonText,
    /** Limits of the run's own cost. The run fails if its next call could exceed them. */
    budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
    /** False if the agents of a step are asked one at a time. */
    parallel: z._default(z.boolean(), true),
    /** Hosted agents that the workspace forbade when the run started. They are neither fallback agents nor judges. */
    forbidden: z._default(z.array(z.string()), []),
  }),
);

export type RunOrder = ReturnType<typeof orderFromDocument>;
export type RunStatus = Run['status'];

/** `cancelled`: the step was waiting when its run ended. This status is derived from the run and never stored. */
export const SHOWN_STEP_STATUSES = [...STEP_STATUSES, 'cancelled'] as const;
export type ShownStep = Omit<StepRecord, 'status'> & { readonly status: (typeof SHOWN_STEP_STATUSES)[number] };

export function isEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** Returns the step as shown to callers: if its run has ended, a waiting step is shown as cancelled. */
export function shownStep(step: StepRecord, run: Run): ShownStep {
  if (step.status !== 'waiting' || !isEnded(run)) return step;
  const message = `The run ${run.status === 'cancelled' ? 'was cancelled' : 'failed'} before this step was done.`;
  const failure = { reason: 'RUN_ENDED', message };
  return { ...step, status: 'cancelled', failure, ...(run.ended_at && { settled_at: run.ended_at }) };
}

/** Returns whether another instance may be executing the run. */
export function isLeased({ lease_expires_at }: Run, now: Date): boolean {
  return lease_expires_at !== undefined && lease_expires_at > now;
}

const MAX_WARNINGS = 50;

/** Duration of a lease. After an instance crashes, no other instance can continue the run until its lease expires. */
export const LEASE_MS = 30_000;

/** Maximum number of deliveries without progress. Then the run fails: another delivery would probably fail too. */
export const MAX_DELIVERIES = 5;
const PICKUP_MS = 60_000;

/** Interval at which a run that waits for a budget checks the budget, because a notification may be lost. */
const BUDGET_EXHAUSTED_RETRY_MS = 10 * 60_000;
const BUDGET_RESERVED_RETRY_MS = 15_000;

/** Returns the run with a new lease. The time for which it waited for a budget is added to its deadline. */
export function leasedRun({ budget_wait, ...run }: Run, now: Date): Run {
  const waited = budget_wait === undefined ? 0 : Math.max(0, now.getTime() - budget_wait.since.getTime());
  const deadline = new Date(run.deadline.getTime() + waited);
  const taken = { ...run, deadline, epoch: run.epoch + 1, deliveries: run.deliveries + 1 };
  return renewedRun({ ...taken, status: 'running' }, now);
}

/** Returns the run as waiting until its budget is raised, or until other calls settle their reservations. */
export function pausedForBudget({ lease_expires_at: _, ...run }: Run, refusal: BudgetRefusal, now: Date): Run {
  const { limitedBy, isExhausted } = refusal;
  const later = isExhausted ? BUDGET_EXHAUSTED_RETRY_MS : BUDGET_RESERVED_RETRY_MS;
  return {
    ...run,
    status: 'waiting',
    budget_wait: { key: budgetKey(limitedBy.budget), is_spent: isExhausted, since: now },
    due_at: new Date(now.getTime() + later),
    deliveries: 0,
  };
}

export function renewedRun(run: Run, now: Date): Run {
  const expiresAt = new Date(now.getTime() + LEASE_MS);
  return { ...run, lease_expires_at: expiresAt, due_at: expiresAt };
}

/** Returns the run without a lease, so that another instance can continue it. */
export function releasedRun({ lease_expires_at: _, ...run }: Run, now: Date): Run {
  return { ...run, due_at: new Date(now.getTime() + PICKUP_MS) };
}

/** Returns the run as waiting for a live agent. The sweep dispatches the run at its deadline at the latest. */
export function waitingRun({ lease_expires_at: _, ...run }: Run): Run {
  return { ...run, status: 'waiting', due_at: run.deadline, deliveries: 0 };
}

export interface RunEnding extends Pick<Run, 'result_step' | 'failure'> {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
}

export function endedRun(
  { lease_expires_at: _, due_at: __, budget_wait: ___, ...run }: Run,
  ending: RunEnding,
  now: Date,
): Run {
  return { ...run, ...ending, current: [], ended_at: now };
}

/** Returns the run after one of its steps was recorded. */
export function withRecord(run: Run, { record, warnings }: StepWork): Run {
  if (record.status === 'waiting') return run;
  const before = run.worked ?? { attempts: 0, milliseconds: 0 };
  const { attempts, milliseconds } = workOf(record.attempts);
  return {
    ...run,
    deliveries: 0,
    steps_settled: run.steps_settled + 1,
    spent: addUsage(run.spent, record.spent),
    worked: { attempts: before.attempts + attempts, milliseconds: before.milliseconds + milliseconds },
    current: run.current.filter((name) => name !== record.name),
    warnings: [...new Set([...run.warnings, ...warnings])].slice(0, MAX_WARNINGS),
  };
}

export interface RunChanges {
  readonly createRun: { readonly run: Run; readonly order: RunOrder };
  readonly replaceRun: { readonly before: Run; readonly run: Run; readonly version: string };
  /** Deletes a run after its retention, unless an open item refers to it. Its parents' totals keep its usage. */
  readonly removeRun: { readonly run: Run; readonly version: string };
  /** Writes the record of a step, and replaces the record that was written when the step started to wait. */
  readonly recordStep: { readonly runId: string; readonly step: StepRecord };
  /** Fails with a stale write error if the call has already been started. */
  readonly startCall: { readonly runId: string; readonly entry: JournalEntry };
  readonly completeCall: { readonly runId: string; readonly entry: JournalEntry };
  /** Stores which run answers a question. `replaces` is the version of the expired entry to overwrite. */
  readonly cacheResponse: {
    readonly key: string;
    readonly runId: string;
    readonly expiresAt: Date;
    readonly replaces?: string | undefined;
  };
}
