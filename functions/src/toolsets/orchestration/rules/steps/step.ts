/** The record of a step: its outcome and its calls' usage. Source: docs/decisions/0021-runs-and-workflows.md. */
import { z } from 'zod/mini';
import { exactUsd } from '../../../../graph/rules/graphNode.ts';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { type AgentRole, ROLES } from '../agents/profile.ts';
import { type Attempt, attempt, unpricedTokens } from '../calls/attempt.ts';
import type { StepRound } from '../workflows/progress.ts';

export const STEP_STATUSES = ['waiting', 'succeeded', 'failed', 'skipped'] as const;

/** Why a run or step failed: a code such as `STEP_FAILED`, and a message that only the run's owner may see. */
export const failure = z.object({ reason: z.string(), message: z.string() });
export const usageShape = z.object({
  input_tokens: z.number(),
  output_tokens: z.number(),
  cost_usd: z.number(),
  unpriced_tokens: unpricedTokens,
});
type StepUsage = z.output<typeof usageShape>;

/** The document `runs/{runId}/steps/{id}`, written when the step starts to wait and when it ends. */
export const { toDocument: stepToDocument, fromDocument: stepFromDocument } = documentCodec(
  z.object({
    /** As returned by `stepId`. */
    id: z.string(),
    /** Position of the step in the run, from 1. */
    number: z.number(),
    name: z.string(),
    /** Round of the repeated group that contains the step, from 1; always 1 outside of groups. */
    iteration: z.number(),
    role: z.enum(ROLES),
    agents: z.array(z.string()),
    status: z.enum(STEP_STATUSES),
    output: z.exactOptional(z.string()),
    /** Answer or error of each agent, if the step has several agents. */
    results: z.exactOptional(
      z.array(z.object({ agent: z.string(), output: z.exactOptional(z.string()), error: z.exactOptional(z.string()) })),
    ),
    failure: z.exactOptional(failure),
    attempts: z.array(attempt),
    spent: usageShape,
    /** How the output was chosen or combined, for example the winner and the votes. */
    explanation: z.exactOptional(z.string()),
    /** True if the output was chosen by comparing the contents of several answers, not by chance or capability. */
    judged: z.exactOptional(z.boolean()),
    /** Task in the work queue with which a live agent does this step. */
    task_id: z.exactOptional(z.string()),
    started_at: timestamp,
    settled_at: z.exactOptional(timestamp),
  }),
);

export type StepRecord = ReturnType<typeof stepFromDocument>;

export interface RunOfStep {
  readonly id: string;
  readonly workflow: string;
  readonly workspace: string;
  readonly started_by: string;
  readonly owner_uid: string;
  readonly deadline: Date;
}

export type StartedStep = Omit<StepRecord, 'status'>;

export interface StepWork {
  readonly record: StepRecord;
  readonly warnings: readonly string[];
}

export const NO_USAGE: StepUsage = { input_tokens: 0, output_tokens: 0, cost_usd: 0 };

/** Returns the document id of a step. Step names contain no dot, so different steps have different ids. */
export function stepId({ name, iteration }: StepRound): string {
  return `${name}.${iteration}`;
}

export function addUsage(left: StepUsage, right: StepUsage): StepUsage {
  const unpriced = (left.unpriced_tokens ?? 0) + (right.unpriced_tokens ?? 0);
  return {
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    cost_usd: exactUsd(left.cost_usd + right.cost_usd),
    ...(unpriced > 0 && { unpriced_tokens: unpriced }),
  };
}

export function usageOf(attempts: readonly Attempt[]): StepUsage {
  return attempts
    .map(({ usage, cost_usd, unpriced_tokens = 0 }) => ({ ...usage, cost_usd, unpriced_tokens }))
    .reduce(addUsage, NO_USAGE);
}

/** Returns the number of requests that the attempts sent, and their total duration. */
export function workOf(attempts: readonly Attempt[]): { attempts: number; milliseconds: number } {
  const made = attempts.filter(({ number }) => number > 0);
  return { attempts: made.length, milliseconds: made.reduce((sum, { milliseconds }) => sum + milliseconds, 0) };
}

/** Returns the record of a step that starts. */
export function startedStep(round: StepRound, role: AgentRole, number: number, startedAt: Date): StartedStep {
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
