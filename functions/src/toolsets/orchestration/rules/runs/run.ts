/** An orchestration as it is kept, and its state machine. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod/mini';
import { budgetKey, type Refusal } from '../../../../graph/rules/budget.ts';
import { documentCodec, jsonText } from '../../../../kernel/documentCodec.ts';
import type { JournalEntry } from '../calls/attempt.ts';
import { addSpent, STEP_STATUSES, type StepRecord, type StepWork, workedOn } from '../steps/step.ts';
import { workflowText } from '../workflows/validation.ts';
import { runDocument } from './runDocument.ts';

export const { toDocument: runToDocument, fromDocument: runFromDocument } = documentCodec(runDocument);

export type Run = ReturnType<typeof runFromDocument>;

/** `runs/{runId}/order/1`, written once. It holds the caller's JSON, with what Firestore cannot hold: lists of lists. */
export const { toDocument: orderToDocument, fromDocument: orderFromDocument } = documentCodec(
  z.object({
    workflow: workflowText,
    input: z.string(),
    context: jsonText,
    /** At most so many tokens and dollars; the run fails rather than begin a call past them. */
    budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
    /** False: the agents of a step are asked one after the other. */
    parallel: z._default(z.boolean(), true),
    /** The hosted agents that the workspace never asked when the run was started: none of them stands in or judges. */
    forbidden: z._default(z.array(z.string()), []),
  }),
);

export type RunOrder = ReturnType<typeof orderFromDocument>;

export type RunStatus = Run['status'];

type Worked = NonNullable<Run['worked']>;

/** `cancelled`: its run ended while it waited. It is never stored: how its run ended says it. */
export const SHOWN_STEP_STATUSES = [...STEP_STATUSES, 'cancelled'] as const;

/** A step as it stands with its run. */
export type ShownStep = Omit<StepRecord, 'status'> & {
  readonly status: (typeof SHOWN_STEP_STATUSES)[number];
};

export function isEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** A step that waits, of a run that has ended, will never come to anything. */
export function shownStep(step: StepRecord, run: Run): ShownStep {
  if (step.status !== 'waiting' || !isEnded(run)) return step;
  const message = `The run ${run.status === 'cancelled' ? 'was cancelled' : 'failed'} before this step was done.`;
  const failure = { reason: 'RUN_ENDED', message };
  return { ...step, status: 'cancelled', failure, ...(run.ended_at && { settled_at: run.ended_at }) };
}

/** Whether another instance may be executing the run. */
export function isLeased({ lease_expires_at }: Run, now: Date): boolean {
  return lease_expires_at !== undefined && lease_expires_at > now;
}

/** A run tells no more of them. */
const MAX_WARNINGS = 50;

/** How long an instance that says nothing more keeps its run. */
export const LEASE_MILLISECONDS = 30_000;

/** How often a run is taken without coming further before it fails: whatever ends it so ends it each time. */
export const MAX_DELIVERIES = 5;

/** How long after a dispatch a run should have been taken. */
const PICKUP_MILLISECONDS = 60_000;

/** How soon a run looks again whether its budget has room, where nobody tells it. */
const BUDGET_SPENT_MILLISECONDS = 10 * 60_000;
const BUDGET_RESERVED_MILLISECONDS = 15_000;

/** The run, taken by an instance. What it has waited for a budget is none of its time. */
export function take({ budget_wait, ...run }: Run, now: Date): Run {
  const waited = budget_wait === undefined ? 0 : Math.max(0, now.getTime() - budget_wait.since.getTime());
  const deadline = new Date(run.deadline.getTime() + waited);
  const taken = { ...run, deadline, epoch: run.epoch + 1, deliveries: run.deliveries + 1 };
  return renewed({ ...taken, status: 'running' }, now);
}

/** The run while its next call does not fit into a budget: until that is raised, or what others reserve is settled. */
export function outOfBudget({ lease_expires_at: _, ...run }: Run, refusal: Refusal, now: Date): Run {
  const { by, isSpent } = refusal;
  const later = isSpent ? BUDGET_SPENT_MILLISECONDS : BUDGET_RESERVED_MILLISECONDS;
  return {
    ...run,
    status: 'waiting',
    budget_wait: { key: budgetKey(by.budget), is_spent: isSpent, since: now },
    due_at: new Date(now.getTime() + later),
    deliveries: 0,
  };
}

export function renewed(run: Run, now: Date): Run {
  const expiresAt = new Date(now.getTime() + LEASE_MILLISECONDS);
  return { ...run, lease_expires_at: expiresAt, due_at: expiresAt };
}

/** The run without a lease, with more to do: the instance that it is dispatched to goes on. */
export function released({ lease_expires_at: _, ...run }: Run, now: Date): Run {
  return { ...run, due_at: new Date(now.getTime() + PICKUP_MILLISECONDS) };
}

/** The run while a task of the network is open. At its deadline it is looked at again. */
export function waiting({ lease_expires_at: _, ...run }: Run): Run {
  return { ...run, status: 'waiting', due_at: run.deadline, deliveries: 0 };
}

export interface Ending extends Pick<Run, 'result_step' | 'failure'> {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
}

export function ended(
  { lease_expires_at: _, due_at: __, budget_wait: ___, ...run }: Run,
  ending: Ending,
  now: Date,
): Run {
  return { ...run, ...ending, current: [], ended_at: now };
}

function addWorked(left: Worked = { attempts: 0, milliseconds: 0 }, right: Worked): Worked {
  return { attempts: left.attempts + right.attempts, milliseconds: left.milliseconds + right.milliseconds };
}

/** The run once a step is recorded. */
export function withRecord(run: Run, { record, warnings }: StepWork): Run {
  if (record.status === 'waiting') return run;
  return {
    ...run,
    deliveries: 0,
    steps_settled: run.steps_settled + 1,
    spent: addSpent(run.spent, record.spent),
    worked: addWorked(run.worked, workedOn(record.attempts)),
    current: run.current.filter((name) => name !== record.name),
    warnings: [...new Set([...run.warnings, ...warnings])].slice(0, MAX_WARNINGS),
  };
}

/** What commits may change of runs, their steps, their journal and the answers that are kept. */
export interface RunChanges {
  readonly createRun: { readonly run: Run; readonly order: RunOrder };
  readonly replaceRun: { readonly before: Run; readonly run: Run; readonly version: string };
  /** It ended long ago, and nothing open refers to it. Its totals stay. */
  readonly removeRun: { readonly run: Run; readonly version: string };
  /** In place of what was recorded while it waited. */
  readonly recordStep: { readonly runId: string; readonly step: StepRecord };
  /** Stale where the call has been started before. */
  readonly startCall: { readonly runId: string; readonly entry: JournalEntry };
  readonly completeCall: { readonly runId: string; readonly entry: JournalEntry };
  /** Says which run answers a question; `replaces` is the version of an answer that is no longer good. */
  readonly keepAnswer: {
    readonly key: string;
    readonly runId: string;
    readonly expiresAt: Date;
    readonly replaces?: string | undefined;
  };
}
