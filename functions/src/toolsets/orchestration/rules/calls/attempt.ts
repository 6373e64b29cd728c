/** One request to a model: what is planned, how it ended, and what it says of its agent. */

import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { FAILURE_CLASSES, type ModelAnswer, ModelFailure } from '../agents/model.ts';
import type { AgentMeasure } from '../agents/profile.ts';

/** Those `unavailable` or `over_budget` were never asked; of an `interrupted` one nobody knows, since its instance died. */
export const ATTEMPT_ENDS = [
  'answered',
  'unavailable',
  'over_budget',
  'interrupted',
  ...FAILURE_CLASSES,
] as const;
export type CompletedAttempt = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };
export const usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });
/** Which attempt it is. */
export const identity = z.object({
  /** Which call of its step: `claude`, `judge:gemini`. */
  call: z.string(),
  /** Counts the call's requests to this agent, from 1; 0 where it was not asked. */
  number: z.number(),
  agent: z.string(),
  model: z.string(),
  /** Milliseconds waited before it. */
  waited: z.number(),
});
export const attempt = z.extend(identity, {
  end: z.enum(ATTEMPT_ENDS),
  reason: z.exactOptional(z.string()),
  milliseconds: z.number(),
  /** As far as it is known. */
  usage,
  cost_usd: z.number(),
  /** The vendor may have done the work all the same, and billed it. */
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

/** One request to a model as the journal has it: `runs/{runId}/calls/{id}`. */
export const { toDocument: callToDocument, fromDocument: callFromDocument } = documentCodec(
  z.extend(identity, {
    id: z.string(),
    step: z.string(),
    /** How many instances died in the middle of this very attempt. */
    repetition: z.number(),
    /** SHA-256 of the prompt. */
    input_hash: z.string(),
    /** Estimated. */
    input_tokens: z.number(),
    max_output_tokens: z.number(),
    started_at: timestamp,
    /** Absent while its end is unknown. */
    ending: z.exactOptional(z.object({ at: timestamp, attempt, settled })),
  }),
);

export type JournalEntry = ReturnType<typeof callFromDocument>;

export type Attempt = NonNullable<JournalEntry['ending']>['attempt'];
/**
 * Whose doing the end of an attempt is: the agent's, or nobody's. Nobody's is what no other model would have done better
 * at: the agent was not asked or was called off, the deployment has a wrong key, a wrong model's name or no credit, or
 * the request is wrong or too long.
 */
const DOING = {
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

/** Whether an attempt counts for or against its agent. */
export function isMeasured({ end }: Pick<Attempt, 'end'>): boolean {
  return DOING[end] === 'agent';
}

/** By agent. Attempts that an earlier execution has made, and counted, must not be among them. */
export function measuresOf(attempts: readonly Attempt[]): readonly AgentMeasure[] {
  const measured = attempts.filter(isMeasured);
  return [...new Set(measured.map(({ agent }) => agent))].map((agent) => {
    const own = measured.filter((attempt) => attempt.agent === agent);
    const answered = own.filter(({ end }) => end === 'answered');
    const milliseconds = answered.reduce((sum, attempt) => sum + attempt.milliseconds, 0);
    return { agent, requests: own.length, answered: answered.length, milliseconds };
  });
}
