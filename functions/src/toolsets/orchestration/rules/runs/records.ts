/** Runs, their orders, their steps and the journal of their calls, as they are kept: their types follow from these schemas. */

import { z } from 'zod';
import { placeFields } from '../../../../graph/rules/node.ts';
import { documentCodec, jsonText, timestamp } from '../../../../kernel/documentCodec.ts';
import { ROLES } from '../agents/profile.ts';
import { FAILURE_CLASSES, ModelFailure } from '../ports.ts';
import { workflowText } from '../workflows/savedWorkflow.ts';
import type { CompletedAttempt } from './journal.ts';
import { ATTEMPT_ENDS, RUN_STATUSES, STEP_STATUSES } from './run.ts';

/** Why a run or a step failed: for a program (`STEP_FAILED`, `BUDGET_EXHAUSTED`), and in words that its owner may see. */
const failure = z.object({ reason: z.string(), message: z.string() });

const spent = z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number() });

/**
 * `runs/{runId}`: small, since it is watched and written at every step. Every field is always written, so that replacing
 * a run leaves nothing of the old one behind.
 */
export const { toDocument: runToDocument, fromDocument: runFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Whose it is: only they and their agents see all of it, and leaders of the workspace its course. */
    owner_uid: z.string(),
    /** The principal that started it. */
    started_by: z.string(),
    workspace: z.string(),
    workflow: z.string(),
    /** The beginning of its input, for lists. */
    title: z.string(),
    status: z.enum(RUN_STATUSES),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    cancel_requested: z.boolean(),
    /** The epoch of the latest lease; 0 before the first. */
    epoch: z.number(),
    /** How often it has been taken since it last came further. */
    deliveries: z.number().default(0),
    /** Until when an instance executes it. The epoch fences: it grows with every taking of the run. */
    lease_expires_at: timestamp.nullable(),
    /** If nothing has happened by then, the run is dispatched again. Absent when nothing is to be done. */
    due_at: timestamp.nullable(),
    /** After this no step is begun any more. */
    deadline: timestamp,
    /** Names of the steps that are under way. */
    current: z.array(z.string()),
    steps_settled: z.number(),
    /** How many steps it has at least, if none is skipped. */
    steps_planned: z.number(),
    spent,
    /** The id of the step whose output is the result. */
    result_step: z.string().nullable(),
    failure: failure.nullable(),
    warnings: z.array(z.string()),
    /** What was chosen for the caller, and why. */
    selection: z.object({ agent: z.string(), workflow: z.string(), reasons: z.array(z.string()) }).nullable(),
    ...placeFields,
    /** What its steps' calls have taken beside tokens and money; null before the first. */
    worked: z.object({ attempts: z.int(), milliseconds: z.number() }).nullable().default(null),
    /** The budget into which its next call does not fit; `is_spent` false: as long as others have reserved of it. */
    budget_wait: z
      .object({ key: z.string(), is_spent: z.boolean(), since: timestamp })
      .nullable()
      .default(null),
  }),
);

export type Run = ReturnType<typeof runFromDocument>;

/**
 * What a run is to do, written once: `runs/{runId}/order/1`. The workflow, as it was checked when the run was started,
 * and the context are the caller's JSON, which may hold what Firestore cannot: lists of lists.
 */
export const { toDocument: orderToDocument, fromDocument: orderFromDocument } = documentCodec(
  z.object({
    workflow: workflowText,
    input: z.string(),
    context: jsonText,
    /** At most so many tokens and dollars; the run fails rather than begin a call past them. */
    budget: z.object({ tokens: z.number(), cost_usd: z.number() }),
    /** False: the agents of a step are asked one after the other. */
    parallel: z.boolean().default(true),
    /** The hosted agents that the workspace never asked when the run was started: none of them stands in or judges. */
    forbidden: z.array(z.string()).default([]),
  }),
);

export type RunOrder = ReturnType<typeof orderFromDocument>;

const usage = z.object({ input_tokens: z.number(), output_tokens: z.number() });

/** Which attempt it is. */
const identity = z.object({
  /** Which call of its step: `claude`, `judge:gemini`. */
  call: z.string(),
  /** Counts the call's requests to this agent, from 1; 0 where it was not asked. */
  number: z.number(),
  agent: z.string(),
  model: z.string(),
  /** Milliseconds waited before it. */
  waited: z.number(),
});

const attempt = identity.extend({
  end: z.enum(ATTEMPT_ENDS),
  /** Why it failed, in words. */
  reason: z.string().exactOptional(),
  milliseconds: z.number(),
  /** As far as it is known. */
  usage,
  cost_usd: z.number(),
  /** The vendor may have done the work all the same, and billed it. */
  outcome_unknown: z.boolean(),
});

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
    /** Those that took part. */
    agents: z.array(z.string()),
    status: z.enum(STEP_STATUSES),
    output: z.string().exactOptional(),
    /** What each of several agents has answered, or why it has not. */
    results: z
      .array(
        z.object({
          agent: z.string(),
          output: z.string().exactOptional(),
          error: z.string().exactOptional(),
        }),
      )
      .exactOptional(),
    failure: failure.exactOptional(),
    attempts: z.array(attempt),
    spent,
    /** How the output came about: who won, how the votes fell. */
    explanation: z.string().exactOptional(),
    /** True: of several answers it is the best because of what they say, and not by lot or by whose it is. */
    judged: z.boolean().exactOptional(),
    /** The task of the work queue that a live agent does for it. */
    task_id: z.string().exactOptional(),
    started_at: timestamp,
    settled_at: timestamp.exactOptional(),
  }),
);

export type StepRecord = ReturnType<typeof stepFromDocument>;

export type Attempt = StepRecord['attempts'][number];

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

/** One request to a model as the journal has it: `runs/{runId}/calls/{id}`. */
export const { toDocument: callToDocument, fromDocument: callFromDocument } = documentCodec(
  identity.extend({
    id: z.string(),
    /** The id of the step that it belongs to. */
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
    ending: z.object({ at: timestamp, attempt, settled }).exactOptional(),
  }),
);

export type JournalEntry = ReturnType<typeof callFromDocument>;
