/** A run and its state machine. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod/mini';
import { type BudgetRefusal, budgetKey } from '../../../../graph/rules/budget.ts';
import { documentCodec, jsonText } from '../../../../kernel/documentCodec.ts';
import type { JournalEntry } from '../calls/attempt.ts';
import { addUsage, STEP_STATUSES, type StepRecord, type StepWork, workOf } from '../steps/step.ts';
import { workflowText } from '../workflows/validation.ts';
import { runDocument } from './runDocument.ts';

export const { toDocument: runToDocument, fromDocument: runFromDocument } = documentCodec(runDocument);

export type Run = ReturnType<typeof runFromDocument>;

/** `runs/{runId}/order/1`, written once. Stored as JSON text, because Firestore rejects nested lists. */
export const { toDocument: orderToDocument, fromDocument: orderFromDocument } = documentCodec(
  z.object({
    workflow: workflowText,
    input: z.string(),
    context: jsonText,
    /** Limits of the run's own spending; the run fails instead of starting a call beyond them. */
    budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
    /** False: the agents of a step are asked sequentially. */
    parallel: z._default(z.boolean(), true),
    /** Hosted agents forbidden when the run was started: they are neither fallbacks nor judges. */
    forbidden: z._default(z.array(z.string()), []),
  }),
);

export type RunOrder = ReturnType<typeof orderFromDocument>;

export type RunStatus = Run['status'];

type RunUsage = NonNullable<Run['worked']>;

/** `cancelled`: the run ended while the step waited. Never stored, because the run's end implies it. */
export const SHOWN_STEP_STATUSES = [...STEP_STATUSES, 'cancelled'] as const;

/** A step with a status that takes its run's end into account. */
export type ShownStep = Omit<StepRecord, 'status'> & { readonly status: (typeof SHOWN_STEP_STATUSES)[number] };

export function isEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** Returns the step as shown: a waiting step of an ended run is cancelled. */
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

/** Maximum number of warnings kept. */
const MAX_WARNINGS = 50;

/** Lease length. An instance that stops renewing keeps its run for this time. */
export const LEASE_MS = 30_000;

/** Maximum deliveries without progress before the run fails. Presumably each ends for the same reason. */
export const MAX_DELIVERIES = 5;

/** Time after a dispatch by which the run should be taken. */
const PICKUP_MS = 60_000;

/** Polling intervals of a run that waits for a budget and is not notified. */
const BUDGET_EXHAUSTED_RETRY_MS = 10 * 60_000;
const BUDGET_RESERVED_RETRY_MS = 15_000;

/** Returns the run taken by an instance. Time spent waiting for a budget extends the deadline. */
export function leasedRun({ budget_wait, ...run }: Run, now: Date): Run {
  const waited = budget_wait === undefined ? 0 : Math.max(0, now.getTime() - budget_wait.since.getTime());
  const deadline = new Date(run.deadline.getTime() + waited);
  const taken = { ...run, deadline, epoch: run.epoch + 1, deliveries: run.deliveries + 1 };
  return renewedRun({ ...taken, status: 'running' }, now);
}

/** Returns the run waiting for a budget to be raised, or for other calls' reservations to be settled. */
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

/** Returns the run without a lease, for another instance to continue. */
export function releasedRun({ lease_expires_at: _, ...run }: Run, now: Date): Run {
  return { ...run, due_at: new Date(now.getTime() + PICKUP_MS) };
}

/** Returns the run waiting for an open network task. At its deadline it is checked again. */
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

function addRunUsage(left: RunUsage = { attempts: 0, milliseconds: 0 }, right: RunUsage): RunUsage {
  return { attempts: left.attempts + right.attempts, milliseconds: left.milliseconds + right.milliseconds };
}

/** Returns the run after a step was recorded. */
export function withRecord(run: Run, { record, warnings }: StepWork): Run {
  if (record.status === 'waiting') return run;
  return {
    ...run,
    deliveries: 0,
    steps_settled: run.steps_settled + 1,
    spent: addUsage(run.spent, record.spent),
    worked: addRunUsage(run.worked, workOf(record.attempts)),
    current: run.current.filter((name) => name !== record.name),
    warnings: [...new Set([...run.warnings, ...warnings])].slice(0, MAX_WARNINGS),
  };
}

/** Changes that commits can make to runs, steps, journals and cached answers. */
export interface RunChanges {
  readonly createRun: { readonly run: Run; readonly order: RunOrder };
  readonly replaceRun: { readonly before: Run; readonly run: Run; readonly version: string };
  /** Deletes an old run that nothing open refers to. Its totals stay. */
  readonly removeRun: { readonly run: Run; readonly version: string };
  /** Replaces what was recorded while the step waited. */
  readonly recordStep: { readonly runId: string; readonly step: StepRecord };
  /** Stale if the call was already started. */
  readonly startCall: { readonly runId: string; readonly entry: JournalEntry };
  readonly completeCall: { readonly runId: string; readonly entry: JournalEntry };
  /** Stores which run answers a question; `replaces` is the version of an outdated answer. */
  readonly cacheResponse: {
    readonly key: string;
    readonly runId: string;
    readonly expiresAt: Date;
    readonly replaces?: string | undefined;
  };
}
