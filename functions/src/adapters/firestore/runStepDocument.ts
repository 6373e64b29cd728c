/** A run's steps and the journal of its calls as Firestore keeps them. */
import { z } from 'zod';
import { ROLES } from '../../domain/orchestration/agents/profile.ts';
import { ATTEMPT_ENDS, type Attempt, type Settled } from '../../domain/orchestration/calls/attempt.ts';
import { FAILURE_CLASSES, ModelFailure, type Usage } from '../../domain/orchestration/ports.ts';
import type { JournalEntry } from '../../domain/orchestration/runs/journalEntry.ts';
import { STEP_STATUSES, type StepRecord } from '../../domain/orchestration/runs/run.ts';
import { spent, spentOf, storedSpent } from './runDocument.ts';
import { timestamp } from './timestamp.ts';

const usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });

type StoredUsage = z.output<typeof usage>;

const attempt = z.object({
  call: z.string(),
  number: z.number(),
  agent: z.string(),
  model: z.string(),
  waited: z.number(),
  end: z.enum(ATTEMPT_ENDS),
  reason: z.string().exactOptional(),
  milliseconds: z.number(),
  usage,
  cost_usd: z.number(),
  outcome_unknown: z.boolean(),
});

const stepDocument = z.object({
  id: z.string(),
  number: z.number(),
  name: z.string(),
  iteration: z.number(),
  role: z.enum(ROLES),
  agents: z.array(z.string()),
  status: z.enum(STEP_STATUSES),
  output: z.string().exactOptional(),
  results: z
    .array(
      z.object({ agent: z.string(), output: z.string().exactOptional(), error: z.string().exactOptional() }),
    )
    .exactOptional(),
  failure: z.object({ reason: z.string(), message: z.string() }).exactOptional(),
  attempts: z.array(attempt),
  spent,
  explanation: z.string().exactOptional(),
  task_id: z.string().exactOptional(),
  started_at: timestamp,
  settled_at: timestamp.exactOptional(),
});

export function stepToDocument(step: StepRecord): z.output<typeof stepDocument> {
  const { taskId, startedAt, settledAt, attempts, agents, results, spent: sum, ...same } = step;
  return {
    ...same,
    agents: [...agents],
    ...(results && { results: [...results] }),
    attempts: attempts.map(storedAttempt),
    spent: storedSpent(sum),
    ...(taskId !== undefined && { task_id: taskId }),
    started_at: startedAt,
    ...(settledAt && { settled_at: settledAt }),
  };
}

export function stepFromDocument(data: unknown): StepRecord {
  const { task_id, started_at, settled_at, attempts, spent: sum, ...same } = stepDocument.parse(data);
  return {
    ...same,
    attempts: attempts.map(attemptOf),
    spent: spentOf(sum),
    ...(task_id !== undefined && { taskId: task_id }),
    startedAt: started_at,
    ...(settled_at && { settledAt: settled_at }),
  };
}

function storedAttempt({ usage: used, costUsd, outcomeUnknown, ...same }: Attempt): z.output<typeof attempt> {
  return { ...same, usage: storedUsage(used), cost_usd: costUsd, outcome_unknown: outcomeUnknown };
}

function attemptOf({ usage: used, cost_usd, outcome_unknown, ...same }: z.output<typeof attempt>): Attempt {
  return { ...same, usage: usageOf(used), costUsd: cost_usd, outcomeUnknown: outcome_unknown };
}

const settled = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('answer'),
    text: z.string(),
    model: z.string(),
    usage,
    complete: z.boolean(),
  }),
  z.object({
    kind: z.literal('failure'),
    failure: z.enum(FAILURE_CLASSES),
    message: z.string(),
    retry_after_ms: z.number().exactOptional(),
    usage: usage.exactOptional(),
    outcome_unknown: z.boolean(),
  }),
]);

const callDocument = z.object({
  id: z.string(),
  step: z.string(),
  call: z.string(),
  number: z.number(),
  repetition: z.number(),
  agent: z.string(),
  model: z.string(),
  input_hash: z.string(),
  input_tokens: z.number(),
  max_output_tokens: z.number(),
  waited: z.number(),
  started_at: timestamp,
  ending: z.object({ at: timestamp, attempt, settled }).exactOptional(),
});

export function callToDocument(entry: JournalEntry): z.output<typeof callDocument> {
  const { id, step, call, number, repetition, agent, model, waited, ending } = entry;
  return {
    id,
    step,
    call,
    number,
    repetition,
    agent,
    model,
    input_hash: entry.inputHash,
    input_tokens: entry.inputTokens,
    max_output_tokens: entry.maxOutputTokens,
    waited,
    started_at: entry.startedAt,
    ...(ending && {
      ending: {
        at: ending.at,
        attempt: storedAttempt(ending.attempt),
        settled: storedSettled(ending.settled),
      },
    }),
  };
}

export function callFromDocument(data: unknown): JournalEntry {
  const stored = callDocument.parse(data);
  const { id, step, call, number, repetition, agent, model, waited, ending } = stored;
  return {
    id,
    step,
    call,
    number,
    repetition,
    agent,
    model,
    inputHash: stored.input_hash,
    inputTokens: stored.input_tokens,
    maxOutputTokens: stored.max_output_tokens,
    waited,
    startedAt: stored.started_at,
    ...(ending && {
      ending: { at: ending.at, attempt: attemptOf(ending.attempt), settled: settledOf(ending.settled) },
    }),
  };
}

function storedSettled(ended: Settled): z.output<typeof settled> {
  if ('answer' in ended) {
    const { text, model, usage: used, complete } = ended.answer;
    return { kind: 'answer', text, model, usage: storedUsage(used), complete };
  }
  const { kind, message, retryAfterMs, usage: used, outcomeUnknown } = ended.failure;
  return {
    kind: 'failure',
    failure: kind,
    message,
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
    ...(used && { usage: storedUsage(used) }),
    outcome_unknown: outcomeUnknown,
  };
}

function settledOf(stored: z.output<typeof settled>): Settled {
  if (stored.kind === 'answer') {
    const { text, model, usage: used, complete } = stored;
    return { answer: { text, model, usage: usageOf(used), complete } };
  }
  const { failure, message, retry_after_ms, usage: used, outcome_unknown } = stored;
  return {
    failure: new ModelFailure(failure, message, {
      ...(retry_after_ms !== undefined && { retryAfterMs: retry_after_ms }),
      ...(used && { usage: usageOf(used) }),
      outcomeUnknown: outcome_unknown,
    }),
  };
}

function storedUsage({ inputTokens, outputTokens }: Usage): StoredUsage {
  return { input_tokens: inputTokens, output_tokens: outputTokens };
}

function usageOf({ input_tokens, output_tokens }: StoredUsage): Usage {
  return { inputTokens: input_tokens, outputTokens: output_tokens };
}
