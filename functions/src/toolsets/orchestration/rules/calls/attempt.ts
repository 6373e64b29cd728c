/** One request to a model: its plan, its outcome, and whether the outcome counts for its agent. */

import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { FAILURE_CLASSES, type ModelAnswer, ModelFailure } from '../agents/model.ts';
import type { AgentMeasure } from '../agents/profile.ts';

/** `unavailable` and `over_budget` were never sent; `interrupted`: the instance crashed, the outcome is unknown. */
export const ATTEMPT_ENDS = ['answered', 'unavailable', 'over_budget', 'interrupted', ...FAILURE_CLASSES] as const;
export type CompletedAttempt = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };
export const usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });
/** Identity of an attempt. */
export const identity = z.object({
  /** Call within the step: `claude`, `judge:gemini`. */
  call: z.string(),
  /** Number of the call's request to this agent, from 1; 0 if no request was sent. */
  number: z.number(),
  agent: z.string(),
  model: z.string(),
  /** Milliseconds waited before the attempt. */
  waited: z.number(),
});
export const attempt = z.extend(identity, {
  end: z.enum(ATTEMPT_ENDS),
  reason: z.exactOptional(z.string()),
  milliseconds: z.number(),
  /** Known usage. */
  usage,
  cost_usd: z.number(),
  /** Whether the vendor may have processed and billed the request anyway. */
  outcome_unknown: z.boolean(),
});
const answer = z.object({ text: z.string(), model: z.string(), usage, complete: z.boolean() });
const stepFailure = z.object({
  failure: z.enum(FAILURE_CLASSES),
  message: z.string(),
  retry_after_ms: z.exactOptional(z.number()),
  usage: z.exactOptional(usage),
  outcome_unknown: z.boolean(),
});
const answers = documentCodec(answer);
const failures = documentCodec(stepFailure);
const storedCompleted = z.discriminatedUnion('kind', [
  z.extend(answer, { kind: z.literal('answer') }),
  z.extend(stepFailure, { kind: z.literal('failure') }),
]);
function storedFailure(failed: ModelFailure) {
  const { kind: failure, message, retry_after_ms, usage, outcome_unknown } = failed;
  return {
    failure,
    message,
    outcome_unknown,
    ...(retry_after_ms !== undefined && { retry_after_ms }),
    ...(usage && { usage }),
  };
}

const settled = z.codec(storedCompleted, z.custom<CompletedAttempt>(), {
  decode: (stored) => {
    if (stored.kind === 'answer') return { answer: answers.fromDocument(stored) };
    const { failure: kind, message, ...details } = failures.fromDocument(stored);
    return { failure: new ModelFailure(kind, message, details) };
  },
  encode: (completed) =>
    storedCompleted.parse(
      'answer' in completed
        ? { kind: 'answer', ...answers.toDocument(completed.answer) }
        : { kind: 'failure', ...failures.toDocument(storedFailure(completed.failure)) },
    ),
});

/** One request to a model as stored in the journal: `runs/{runId}/calls/{id}`. */
export const { toDocument: callToDocument, fromDocument: callFromDocument } = documentCodec(
  z.extend(identity, {
    id: z.string(),
    step: z.string(),
    /** Number of instances that crashed during this attempt. */
    repetition: z.number(),
    /** SHA-256 of the prompt. */
    input_hash: z.string(),
    /** Estimated. */
    input_tokens: z.number(),
    max_output_tokens: z.number(),
    started_at: timestamp,
    /** Absent while the outcome is unknown. */
    ending: z.exactOptional(z.object({ at: timestamp, attempt, settled })),
  }),
);

export type JournalEntry = ReturnType<typeof callFromDocument>;

export type Attempt = NonNullable<JournalEntry['ending']>['attempt'];
/**
 * Whether the end of an attempt counts for its agent. It does not if every model would have ended the same way: no
 * request was sent, it was cancelled, the deployment has a wrong key or model name or no credit, or the request is
 * invalid or too long.
 */
const OUTCOME_TEXTS = {
  answered: 'agent',
  overloaded: 'agent',
  rate_limited: 'agent',
  network: 'agent',
  timeout: 'agent',
  server_error: 'agent',
  truncated: 'agent',
  malformed: 'agent',
  refused: 'agent',
  unavailable: 'nobody',
  over_budget: 'nobody',
  interrupted: 'nobody',
  aborted: 'nobody',
  authentication: 'nobody',
  quota: 'nobody',
  invalid_request: 'nobody',
  context_too_long: 'nobody',
} as const satisfies Record<Attempt['end'], 'agent' | 'nobody'>;

/** Returns whether an attempt counts for or against its agent. */
export function isMeasured({ end }: Pick<Attempt, 'end'>): boolean {
  return OUTCOME_TEXTS[end] === 'agent';
}

/** Returns measurements per agent. Attempts that an earlier execution already counted must be excluded. */
export function measuresOf(attempts: readonly Attempt[]): readonly AgentMeasure[] {
  const measured = attempts.filter(isMeasured);
  return [...new Set(measured.map(({ agent }) => agent))].map((agent) => {
    const own = measured.filter((attempt) => attempt.agent === agent);
    const answered = own.filter(({ end }) => end === 'answered');
    const milliseconds = answered.reduce((sum, attempt) => sum + attempt.milliseconds, 0);
    return { agent, requests: own.length, answered: answered.length, milliseconds };
  });
}
