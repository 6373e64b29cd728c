/** A step's record: its outcome and its calls' usage. Source: docs/decisions/0021-runs-and-workflows.md. */

import { z } from 'zod/mini';
import { exactUsd } from '../../../../graph/rules/graphNode.ts';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { type AgentRole, ROLES } from '../agents/profile.ts';
import { type Attempt, attempt } from '../calls/attempt.ts';
import type { StepRound } from '../workflows/progress.ts';

export const STEP_STATUSES = ['waiting', 'succeeded', 'failed', 'skipped'] as const;

/** Why a run or step failed: a code (`STEP_FAILED`, `BUDGET_EXHAUSTED`) and a message that its owner may see. */
export const failure = z.object({ reason: z.string(), message: z.string() });

export const usageShape = z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() });

type StepUsage = z.output<typeof usageShape>;

/** A step's record: `runs/{runId}/steps/{id}`. Written when the step settles, and when it starts to wait. */
export const { toDocument: stepToDocument, fromDocument: stepFromDocument } = documentCodec(
  z.object({
    /** Name and round. */
    id: z.string(),
    /** Position among the run's steps, from 1. */
    number: z.number(),
    name: z.string(),
    /** Round of a repeated group, from 1; 1 outside of groups. */
    iteration: z.number(),
    role: z.enum(ROLES),
    agents: z.array(z.string()),
    status: z.enum(STEP_STATUSES),
    output: z.exactOptional(z.string()),
    /** Answer or error of each of several agents. */
    results: z.exactOptional(
      z.array(z.object({ agent: z.string(), output: z.exactOptional(z.string()), error: z.exactOptional(z.string()) })),
    ),
    failure: z.exactOptional(failure),
    attempts: z.array(attempt),
    spent: usageShape,
    /** Explains how the output was obtained: the winner, the votes. */
    explanation: z.exactOptional(z.string()),
    /** True if the output was chosen from several answers by content, not at random or by capability. */
    judged: z.exactOptional(z.boolean()),
    /** Task in the work queue that a live agent does for this step. */
    task_id: z.exactOptional(z.string()),
    started_at: timestamp,
    settled_at: z.exactOptional(timestamp),
  }),
);

export type StepRecord = ReturnType<typeof stepFromDocument>;

/** Run fields that a step uses. */
export interface RunOfStep {
  readonly id: string;
  readonly workflow: string;
  readonly workspace: string;
  readonly started_by: string;
  readonly owner_uid: string;
  readonly deadline: Date;
}

/** A step without an outcome. */
export type BegunStep = Omit<StepRecord, 'status'>;

/** Record of an executed step, and its warnings for the run. */
export interface StepWork {
  readonly record: StepRecord;
  readonly warnings: readonly string[];
}

export const NO_USAGE: StepUsage = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };

/** Returns a step's document id. Names contain no dot, so it is unambiguous. */
export function stepId({ name, iteration }: StepRound): string {
  return `${name}.${iteration}`;
}

export function addUsage(left: StepUsage, right: StepUsage): StepUsage {
  return {
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cost_usd: exactUsd(left.cost_usd + right.cost_usd),
  };
}

export function usageOf(attempts: readonly Attempt[]): StepUsage {
  return attempts.map(({ usage, cost_usd }) => ({ ...usage, cost_usd })).reduce(addUsage, NO_USAGE);
}

/** Returns the number of requests made and their total duration. */
export function workOf(attempts: readonly Attempt[]): { attempts: number; milliseconds: number } {
  const made = attempts.filter(({ number }) => number > 0);
  return { attempts: made.length, milliseconds: made.reduce((sum, { milliseconds }) => sum + milliseconds, 0) };
}

/** Returns the record of a step that starts. */
export function startedStep(round: StepRound, role: AgentRole, number: number, startedAt: Date): BegunStep {
  const { name, iteration } = round;
  return {
    id: stepId(round),
    number,
    name,
    iteration,
    role,
    agents: [],
    attempts: [],
    spent: NO_USAGE,
    started_at: startedAt,
  };
}
