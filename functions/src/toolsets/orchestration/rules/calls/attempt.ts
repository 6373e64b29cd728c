/** An attempt is one request to a model. Defines its input and outcome, and which outcomes count for the agent. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { answer, FAILURE_CLASSES, type ModelAnswer, ModelFailure, price, usage } from '../agents/model.ts';
import type { AgentMeasure } from '../agents/profile.ts';

/** `unavailable`, `over_budget`: no request was sent. `interrupted`: the instance crashed; the outcome is unknown. */
export const ATTEMPT_ENDS = ['answered', 'unavailable', 'over_budget', 'interrupted', ...FAILURE_CLASSES] as const;
export type CompletedAttempt = { readonly answer: ModelAnswer } | { readonly failure: ModelFailure };

/** Tokens whose cost is unknown, because models.json has no price. Absent if the cost is known. */
export const unpricedTokens = z.exactOptional(z.number());
export const identity = z.object({
  /** For example `claude` or `judge:gemini`. */
  call: z.string(),
  /** Number of this request among the call's requests to the same agent, from 1; 0 if no request was sent. */
  number: z.number(),
  agent: z.string(),
  /** Provider of the model. Earlier versions did not record it. */
  provider: z.exactOptional(z.string()),
  model: z.string(),
  /** In milliseconds. */
  waited: z.number(),
});
export const attempt = z.extend(identity, {
  end: z.enum(ATTEMPT_ENDS),
  reason: z.exactOptional(z.string()),
  milliseconds: z.number(),
  /** May be incomplete if the attempt failed. */
  usage,
  cost_usd: z.number(),
  unpriced_tokens: unpricedTokens,
  /** Whether the vendor may have processed and billed the request, although no answer arrived. */
  outcome_unknown: z.boolean(),
});
const storedCompleted = z.discriminatedUnion('kind', [
  z.extend(answer, { kind: z.literal('answer') }),
  z.object({
    kind: z.literal('failure'),
    failure: z.enum(FAILURE_CLASSES),
    message: z.string(),
    retry_after_ms: z.exactOptional(z.number()),
    usage: z.exactOptional(usage),
    outcome_unknown: z.boolean(),
  }),
]);

const settled = z.codec(storedCompleted, z.custom<CompletedAttempt>(), {
  decode: ({ kind: _, ...stored }) => {
    if (!('failure' in stored)) return { answer: stored };
    const { failure: kind, message, ...details } = stored;
    return { failure: new ModelFailure(kind, message, details) };
  },
  encode: (completed) => {
    if ('answer' in completed) return { ...completed.answer, kind: 'answer' as const };
    const { kind: failure, message, retry_after_ms, usage, outcome_unknown } = completed.failure;
    return {
      kind: 'failure' as const,
      failure,
      message,
      outcome_unknown,
      ...(retry_after_ms !== undefined && { retry_after_ms }),
      ...(usage && { usage }),
    };
  },
});

/** A journal entry, `runs/{runId}/calls/{id}`: one request to a model. */
export const { toDocument: callToDocument, fromDocument: callFromDocument } = documentCodec(
  z.extend(identity, {
    id: z.string(),
    step: z.string(),
    /** Number of earlier executions of the same attempt, all of which ended with a crash of their instance. */
    repetition: z.number(),
    input_hash: z.string(),
    /** Estimate. */
    input_tokens: z.number(),
    max_output_tokens: z.number(),
    started_at: timestamp,
    /** Price when the request was sent. Absent if unknown, and in entries before 0.5. */
    price: z.exactOptional(price),
    /** Absent until the outcome is known. */
    ending: z.exactOptional(z.object({ at: timestamp, attempt, settled })),
  }),
);

export type JournalEntry = ReturnType<typeof callFromDocument>;
export type Attempt = NonNullable<JournalEntry['ending']>['attempt'];
/**
 * Whether each kind of outcome counts for the agent. Outcomes that the model did not cause do not count: no request
 * was sent; Muster cancelled it; the deployment's key, model name or credit is wrong; or the request is invalid or
 * too long.
 */
const IS_MEASURED = {
  answered: true,
  overloaded: true,
  rate_limited: true,
  network: true,
  timeout: true,
  server_error: true,
  truncated: true,
  malformed: true,
  refused: true,
  unavailable: false,
  over_budget: false,
  interrupted: false,
  aborted: false,
  authentication: false,
  quota: false,
  invalid_request: false,
  context_too_long: false,
} as const satisfies Record<Attempt['end'], boolean>;

export function isMeasured({ end }: Pick<Attempt, 'end'>): boolean {
  return IS_MEASURED[end];
}

/** Returns measurements per agent. Do not pass attempts that an earlier execution of the step has already counted. */
export function measuresOf(attempts: readonly Attempt[]): readonly AgentMeasure[] {
  const measured = attempts.filter(isMeasured);
  return [...new Set(measured.map(({ agent }) => agent))].map((agent) => {
    const own = measured.filter((attempt) => attempt.agent === agent);
    const answered = own.filter(({ end }) => end === 'answered');
    const milliseconds = answered.reduce((sum, attempt) => sum + attempt.milliseconds, 0);
    return { agent, requests: own.length, answered: answered.length, milliseconds };
  });
}
