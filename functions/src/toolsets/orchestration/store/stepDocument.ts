/** A run's steps and the journal of its calls as Firestore keeps them. */

import { z } from 'zod';
import { type DocumentCodec, documentCodec } from '../../../kernel/firestore/codec.ts';
import { timestamp } from '../../../kernel/firestore/documents.ts';
import { ROLES } from '../rules/agents/profile.ts';
import { ATTEMPT_ENDS, type Settled } from '../rules/calls/attempting.ts';
import { FAILURE_CLASSES, ModelFailure, type Usage } from '../rules/port.ts';
import type { JournalEntry } from '../rules/runs/journal.ts';
import { STEP_STATUSES, type StepRecord } from '../rules/runs/run.ts';
import { spent } from './runDocument.ts';

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

const storedSettled = z.discriminatedUnion('kind', [
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

const settled = z.codec(storedSettled, z.custom<Settled>(), { decode: settledOf, encode: settledToStored });

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

function settledToStored(ended: Settled): z.output<typeof storedSettled> {
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

function settledOf(stored: z.output<typeof storedSettled>): Settled {
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
