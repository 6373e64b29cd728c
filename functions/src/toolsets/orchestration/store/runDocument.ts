/** Runs, their steps and their calls as Firestore keeps them. */

import { z } from 'zod';
import { type DocumentCodec, documentCodec, jsonText } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { ROLES } from '../rules/agents/profile.ts';
import { ATTEMPT_ENDS, type CompletedAttempt } from '../rules/calls/attempting.ts';
import { FAILURE_CLASSES, ModelFailure } from '../rules/ports.ts';
import type { JournalEntry } from '../rules/runs/journal.ts';
import { RUN_STATUSES, type Run, type RunOrder, STEP_STATUSES, type StepRecord } from '../rules/runs/run.ts';
import { workflowText } from './workflows.ts';

const failure = z.object({ reason: z.string(), message: z.string() });

const spent = z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() });

const codec = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    started_by: z.string(),
    workspace: z.string(),
    workflow: z.string(),
    title: z.string(),
    status: z.enum(RUN_STATUSES),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    cancel_requested: z.boolean(),
    epoch: z.number(),
    deliveries: z.number().default(0),
    due_at: timestamp.nullable(),
    deadline: timestamp,
    current: z.array(z.string()),
    steps_settled: z.number(),
    steps_planned: z.number(),
    spent,
    result_step: z.string().nullable(),
    failure: failure.nullable(),
    warnings: z.array(z.string()),
    selection: z.object({ agent: z.string(), workflow: z.string(), reasons: z.array(z.string()) }).nullable(),
  }),
);

/** Until when the run's lease is good. Its epoch is the run's. */
const leases = documentCodec(z.object({ lease_expires_at: timestamp.nullable() }), {
  lease_expires_at: 'expiresAt',
});

/** Every field is always written, so that replacing a run leaves nothing of the old one behind. */
export function runToDocument(run: Run): Record<string, unknown> {
  return { ...codec.toDocument(run), ...leases.toDocument({ ...run.lease }) };
}

export function runFromDocument(data: unknown): Run {
  const run = codec.fromDocument(data);
  const { expiresAt } = leases.fromDocument(data);
  return expiresAt === undefined ? run : { ...run, lease: { epoch: run.epoch, expiresAt } };
}

/** The workflow and the context are the caller's JSON, which may hold what Firestore cannot: lists of lists. */
export const { toDocument: orderToDocument, fromDocument: orderFromDocument }: DocumentCodec<RunOrder> =
  documentCodec(
    z.object({
      workflow: workflowText,
      input: z.string(),
      context: jsonText,
      budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
      parallel: z.boolean().default(true),
    }),
  );

// A run's steps and the journal of its calls as Firestore keeps them.

const usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });

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

export const { toDocument: stepToDocument, fromDocument: stepFromDocument }: DocumentCodec<StepRecord> =
  documentCodec(
    z.object({
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
          z.object({
            agent: z.string(),
            output: z.string().exactOptional(),
            error: z.string().exactOptional(),
          }),
        )
        .exactOptional(),
      failure: z.object({ reason: z.string(), message: z.string() }).exactOptional(),
      attempts: z.array(attempt),
      spent,
      explanation: z.string().exactOptional(),
      task_id: z.string().exactOptional(),
      started_at: timestamp,
      settled_at: timestamp.exactOptional(),
    }),
  );

const answer = z.object({ text: z.string(), model: z.string(), usage, complete: z.boolean() });

const stepFailure = z.object({
  failure: z.enum(FAILURE_CLASSES),
  message: z.string(),
  retry_after_ms: z.number().exactOptional(),
  usage: usage.exactOptional(),
  outcome_unknown: z.boolean(),
});

const answers = documentCodec(answer);
const failures = documentCodec(stepFailure, { failure: 'kind' });

const storedCompleted = z.discriminatedUnion('kind', [
  answer.extend({ kind: z.literal('answer') }),
  stepFailure.extend({ kind: z.literal('failure') }),
]);

const settled = z.codec(storedCompleted, z.custom<CompletedAttempt>(), {
  decode: (stored) => {
    if (stored.kind === 'answer') return { answer: answers.fromDocument(stored) };
    const { kind, message, ...details } = failures.fromDocument(stored);
    return { failure: new ModelFailure(kind, message, details) };
  },
  encode: (completed) =>
    storedCompleted.parse(
      'answer' in completed
        ? { kind: 'answer', ...answers.toDocument(completed.answer) }
        : { kind: 'failure', ...failures.toDocument(completed.failure) },
    ),
});

export const { toDocument: callToDocument, fromDocument: callFromDocument }: DocumentCodec<JournalEntry> =
  documentCodec(
    z.object({
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
    }),
  );
