/** An orchestration as it is kept, and its state machine. Source: docs/decisions/0021-runs.md. */
import type { JsonObject } from '../../../../kernel/json.ts';
import type { AgentRole } from '../agents/profile.ts';
import type { Attempt } from '../calls/attempting.ts';
import type { Usage } from '../ports.ts';
import type { Workflow } from '../workflows/definition.ts';
import type { StepRound } from '../workflows/progress.ts';

/**
 * `pending` until an instance takes it, `waiting` while a live agent of the network has a step in hand; the last
 * three are final.
 */
export const RUN_STATUSES = ['pending', 'running', 'waiting', 'succeeded', 'failed', 'cancelled'] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

export interface Spent extends Usage {
  /** US dollars. */
  readonly costUsd: number;
}

export const NOTHING_SPENT: Spent = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

/** Why a run or a step failed, in words that its owner may see. */
interface RunFailure {
  /** For a program: `STEP_FAILED`, `BUDGET_EXHAUSTED`. */
  readonly reason: string;
  readonly message: string;
}

/** Who executes a run, until when. The epoch fences: it grows with every taking of the run. */
interface Lease {
  readonly epoch: number;
  readonly expiresAt: Date;
}

/** What was chosen for the caller, and why. */
export interface Selection {
  readonly agent: string;
  readonly workflow: string;
  readonly reasons: readonly string[];
}

/** `runs/{runId}`: small, since it is watched and written at every step. */
export interface Run {
  readonly id: string;
  /** Whose it is: only they, their agents and leaders see it. */
  readonly ownerUid: string;
  /** The principal that started it. */
  readonly startedBy: string;
  readonly workspace: string;
  readonly workflow: string;
  /** The beginning of its input, for lists. */
  readonly title: string;
  readonly status: RunStatus;
  readonly createdAt: Date;
  /** When it ended. */
  readonly endedAt?: Date;
  readonly cancelRequested: boolean;
  /** The epoch of the latest lease; 0 before the first. */
  readonly epoch: number;
  /** How often it has been taken since it last came further. */
  readonly deliveries: number;
  readonly lease?: Lease;
  /** If nothing has happened by then, the run is dispatched again. Absent when nothing is to be done. */
  readonly dueAt?: Date;
  /** After this no step is begun any more. */
  readonly deadline: Date;
  /** Names of the steps that are under way. */
  readonly current: readonly string[];
  readonly stepsSettled: number;
  /** How many steps it has at least, if none is skipped. */
  readonly stepsPlanned: number;
  readonly spent: Spent;
  /** The id of the step whose output is the result. */
  readonly resultStep?: string;
  readonly failure?: RunFailure;
  readonly warnings: readonly string[];
  readonly selection?: Selection;
}

/** What a run is to do, written once: `runs/{runId}/order/1`. */
export interface RunOrder {
  /** The workflow as it was checked when the run was started. */
  readonly workflow: Workflow;
  readonly input: string;
  readonly context: JsonObject;
  /** At most so many tokens and dollars; the run fails rather than begin a call past them. */
  readonly budget: RunBudget;
  /** False: the agents of a step are asked one after the other. */
  readonly parallel: boolean;
}

export interface RunBudget {
  readonly tokens: number;
  readonly costUsd: number;
}

export const STEP_STATUSES = ['waiting', 'succeeded', 'failed', 'skipped'] as const;

export type StepStatus = (typeof STEP_STATUSES)[number];

/** What one of several agents has answered, or why it has not. */
export interface AgentResult {
  readonly agent: string;
  readonly output?: string;
  readonly error?: string;
}

/** What a step did: `runs/{runId}/steps/{id}`. Written when it settles, and when it begins to wait. */
export interface StepRecord {
  /** Its name and its round. */
  readonly id: string;
  /** Its place among the run's steps, from 1. */
  readonly number: number;
  readonly name: string;
  /** The round of a repeated group, from 1; outside of one, 1. */
  readonly iteration: number;
  readonly role: AgentRole;
  /** Those that took part. */
  readonly agents: readonly string[];
  readonly status: StepStatus;
  readonly output?: string;
  /** One for each of several agents. */
  readonly results?: readonly AgentResult[];
  readonly failure?: RunFailure;
  readonly attempts: readonly Attempt[];
  readonly spent: Spent;
  /** How the output came about: who won, how the votes fell. */
  readonly explanation?: string;
  /** The task of the work queue that a live agent does for it. */
  readonly taskId?: string;
  readonly startedAt: Date;
  readonly settledAt?: Date;
}

/** `cancelled`: its run ended while it waited. It is never stored: how its run ended says it. */
export const SHOWN_STEP_STATUSES = [...STEP_STATUSES, 'cancelled'] as const;

/** A step as it stands with its run. */
export interface ShownStep extends Omit<StepRecord, 'status'> {
  readonly status: (typeof SHOWN_STEP_STATUSES)[number];
}

/** A step that has not come to anything yet. */
export type BegunStep = Omit<StepRecord, 'status'>;

/** The record of a step that was executed, and what its run warns of because of it. */
export interface StepWork {
  readonly record: StepRecord;
  readonly warnings: readonly string[];
}

export function isEnded({ status }: Pick<Run, 'status'>): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled';
}

/** A step that waits, of a run that has ended, will never come to anything. */
export function shownStep(step: StepRecord, run: Run): ShownStep {
  if (step.status !== 'waiting' || !isEnded(run)) return step;
  const message = `The run ${run.status === 'cancelled' ? 'was cancelled' : 'failed'} before this step was done.`;
  return {
    ...step,
    status: 'cancelled',
    failure: { reason: 'RUN_ENDED', message },
    ...(run.endedAt && { settledAt: run.endedAt }),
  };
}

/** Names have no dot. */
export function stepId({ name, iteration }: StepRound): string {
  return `${name}.${iteration}`;
}

/** Whether another instance may be executing the run. */
export function isLeased({ lease }: Pick<Run, 'lease'>, now: Date): boolean {
  return lease !== undefined && lease.expiresAt > now;
}

/** A run tells no more of them. */
export const MAX_WARNINGS = 50;

/** How long an instance that says nothing more keeps its run. */
export const LEASE_MILLISECONDS = 30_000;

/** How often a run is taken without coming further before it fails: whatever ends it so ends it each time. */
export const MAX_DELIVERIES = 5;

/** How long after a dispatch a run should have been taken. */
const PICKUP_MILLISECONDS = 60_000;

/** The run, taken by an instance. */
export function take(run: Run, now: Date): Run & { readonly lease: Lease } {
  const epoch = run.epoch + 1;
  return renewed({ ...run, status: 'running', epoch, deliveries: run.deliveries + 1 }, epoch, now);
}

export function renewed(run: Run, epoch: number, now: Date): Run & { readonly lease: Lease } {
  const expiresAt = new Date(now.getTime() + LEASE_MILLISECONDS);
  return { ...run, lease: { epoch, expiresAt }, dueAt: expiresAt };
}

/** The run without a lease, with more to do: the instance that it is dispatched to goes on. */
export function released({ lease: _, ...run }: Run, now: Date): Run {
  return { ...run, dueAt: new Date(now.getTime() + PICKUP_MILLISECONDS) };
}

/** The run while a task of the network is open. At its deadline it is looked at again. */
export function waiting({ lease: _, ...run }: Run): Run {
  return { ...run, status: 'waiting', dueAt: run.deadline, deliveries: 0 };
}

export interface Ending {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly resultStep?: string;
  readonly failure?: RunFailure;
}

export function ended({ lease: _, dueAt: __, ...run }: Run, ending: Ending, now: Date): Run {
  return { ...run, ...ending, current: [], endedAt: now };
}

export function addSpent(left: Spent, right: Spent): Spent {
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    costUsd: left.costUsd + right.costUsd,
  };
}

export function spentOn(attempts: readonly Attempt[]): Spent {
  return attempts.map(({ usage, costUsd }) => ({ ...usage, costUsd })).reduce(addSpent, NOTHING_SPENT);
}

/** The record of a step that begins. */
export function begun(
  { name, iteration }: StepRound,
  role: AgentRole,
  number: number,
  startedAt: Date,
): BegunStep {
  const id = stepId({ name, iteration });
  return { id, number, name, iteration, role, agents: [], attempts: [], spent: NOTHING_SPENT, startedAt };
}
