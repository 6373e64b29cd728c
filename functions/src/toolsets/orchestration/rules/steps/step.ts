/** A step as it is kept: what it did, and what its calls took. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod/mini';
import { exactUsd } from '../../../../graph/rules/graphNode.ts';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { type AgentRole, ROLES } from '../agents/profile.ts';
import { type Attempt, attempt } from '../calls/attempt.ts';
import type { StepRound } from '../workflows/progress.ts';

export const STEP_STATUSES = ['waiting', 'succeeded', 'failed', 'skipped'] as const;

/** Why a run or a step failed: for a program (`STEP_FAILED`, `BUDGET_EXHAUSTED`), and in words that its owner may see. */
export const failure = z.object({ reason: z.string(), message: z.string() });

export const spent = z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() });

type Spent = z.output<typeof spent>;

/** What a step did: `runs/{runId}/steps/{id}`. Written when it settles, and when it begins to wait. */
export const { toDocument: stepToDocument, fromDocument: stepFromDocument } = documentCodec(
  z.object({
    /** Its name and its round. */
    id: z.string(),
    /** Its place among the run's steps, from 1. */
    number: z.number(),
    name: z.string(),
    /** The round of a repeated group, from 1; outside of one, 1. */
    iteration: z.number(),
    role: z.enum(ROLES),
    agents: z.array(z.string()),
    status: z.enum(STEP_STATUSES),
    output: z.exactOptional(z.string()),
    /** What each of several agents has answered, or why it has not. */
    results: z.exactOptional(
      z.array(
        z.object({
          agent: z.string(),
          output: z.exactOptional(z.string()),
          error: z.exactOptional(z.string()),
        }),
      ),
    ),
    failure: z.exactOptional(failure),
    attempts: z.array(attempt),
    spent,
    /** How the output came about: who won, how the votes fell. */
    explanation: z.exactOptional(z.string()),
    /** True: of several answers it is the best because of what they say, and not by lot or by whose it is. */
    judged: z.exactOptional(z.boolean()),
    /** The task of the work queue that a live agent does for it. */
    task_id: z.exactOptional(z.string()),
    started_at: timestamp,
    settled_at: z.exactOptional(timestamp),
  }),
);

export type StepRecord = ReturnType<typeof stepFromDocument>;

/** What a step knows of its run. */
export interface RunOfStep {
  readonly id: string;
  readonly workflow: string;
  readonly workspace: string;
  readonly started_by: string;
  readonly owner_uid: string;
  readonly deadline: Date;
}

/** A step that has not come to anything yet. */
export type BegunStep = Omit<StepRecord, 'status'>;

/** The record of a step that was executed, and what its run warns of because of it. */
export interface StepWork {
  readonly record: StepRecord;
  readonly warnings: readonly string[];
}

export const NOTHING_SPENT: Spent = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };

/** Names have no dot. */
export function stepId({ name, iteration }: StepRound): string {
  return `${name}.${iteration}`;
}

export function addSpent(left: Spent, right: Spent): Spent {
  return {
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cost_usd: exactUsd(left.cost_usd + right.cost_usd),
  };
}

export function spentOn(attempts: readonly Attempt[]): Spent {
  return attempts.map(({ usage, cost_usd }) => ({ ...usage, cost_usd })).reduce(addSpent, NOTHING_SPENT);
}

/** The requests that were made, and how long they took. */
export function workedOn(attempts: readonly Attempt[]): { attempts: number; milliseconds: number } {
  const made = attempts.filter(({ number }) => number > 0);
  return {
    attempts: made.length,
    milliseconds: made.reduce((sum, { milliseconds }) => sum + milliseconds, 0),
  };
}

/** The record of a step that begins. */
export function begun(round: StepRound, role: AgentRole, number: number, startedAt: Date): BegunStep {
  const { name, iteration } = round;
  return {
    id: stepId(round),
    number,
    name,
    iteration,
    role,
    agents: [],
    attempts: [],
    spent: NOTHING_SPENT,
    started_at: startedAt,
  };
}
