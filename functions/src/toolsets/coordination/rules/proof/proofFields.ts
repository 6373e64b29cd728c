/** Fields of a task that store whether its result is proven. Source: docs/decisions/0061-done-means-proven.md. */
import { z } from 'zod/mini';
import { acceptance } from '../../../../access/rules/proofSettings.ts';
import { timestamp } from '../../../../kernel/documentCodec.ts';

/** Steps of an acceptance, in their order. They are stored as text, so that a later step breaks no reader. */
export const STEPS = ['command', 'review', 'person'] as const;
export type Step = (typeof STEPS)[number];

/** Capability of runners that run commands for other tasks, and of the tasks that require one. */
export const RUNS_COMMANDS = 'muster:command';

/** Capability that only reviews require, so that ordinary claims never find them. */
export const REVIEWS = 'muster:review';

/** Where handed-in work is, and which steps the author's runner has already checked. */
export interface HandedInWork {
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly commits?: readonly { readonly sha: string; readonly subject: string }[] | undefined;
  readonly passed?: readonly { readonly step: string; readonly by: string; readonly at: Date }[] | undefined;
}

export const VERDICTS = ['approve', 'request_changes'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Step that passed. `by`: agent id, uid, `github` or `muster`. Besides `STEPS`, a step can be `waived` or `merged`. */
const passedStep = z.object({ step: z.string(), by: z.string(), at: timestamp, commit: z.exactOptional(z.string()) });

const proof = z.object({
  step: z.string(),
  /** Number of this hand-in within the try, from 1. */
  round: z.int(),
  /** Author: the agent whose claim handed in the result, with the length of its lease. */
  agent_id: z.string(),
  claim_epoch: z.int(),
  claimed_at: timestamp,
  lease_seconds: z.int(),
  since: timestamp,
  /** Id of the review task, the command run or the question that the step waits for. */
  check: z.nullable(z.string()),
  branch: z.exactOptional(z.string()),
  commit: z.exactOptional(z.string()),
  /** Commits of a coding task's attempt. */
  commits: z.exactOptional(z.array(z.object({ sha: z.string(), subject: z.string() }))),
  passed: z.array(passedStep),
});

const correction = z.object({
  round: z.int(),
  at: timestamp,
  /** Agent id or uid that requested the changes; `muster` for a failed command. */
  by: z.string(),
  step: z.string(),
  comments: z.string(),
  /** Digest of the comments without digits, punctuation and case, by which the same correction is recognized. */
  digest: z.string(),
  /** How often this correction was requested. */
  times: z.int(),
  /** The claim whose result was sent back. */
  agent_id: z.string(),
  claim_epoch: z.int(),
});

/** Fields of a check: a review task, or a coding task that runs a command for another task. */
const check = z.object({
  task_id: z.string(),
  round: z.int(),
  /** Ids of the agents and uids of the credentials that worked on the task, and so cannot review it. */
  not_by: z.array(z.string()),
  /** Whether terminals of the authors' credentials may review. */
  terminals: z.boolean(),
  /** Model family of the author. A review goes to another family first. */
  family: z.exactOptional(z.string()),
  branch: z.exactOptional(z.string()),
  commit: z.exactOptional(z.string()),
  verdict: z.exactOptional(z.enum(VERDICTS)),
});

export const proofFields = {
  /** Requirements that the result must meet before the task is done. */
  acceptance: z._default(z.nullable(acceptance), null),
  /** Set while the task is verifying: it is `waiting`, has a result, and has no holder. */
  proof: z._default(z.nullable(proof), null),
  /** Time by which the current check must bring a verdict. */
  proof_until: z._default(z.nullable(timestamp), null),
  /** Number of times that the result was sent back in this try. */
  rounds: z._default(z.int(), 0),
  sent_back: z._default(z.array(correction), []),
  /** Steps by which the task was proven. */
  proven: z._default(z.array(passedStep), []),
  /** Agents that worked on the task, with the uids of the credentials they used. */
  authors: z._default(z.array(z.object({ agent_id: z.string(), uid: z.string() })), []),
  reviews: z._default(z.nullable(check), null),
};

/** Fields of a task that reserves its files while it is held. Source: docs/decisions/0062-reserved-files.md. */
export const fileFields = {
  /** Maximum number of minutes to wait for files that another task holds; null: the task reserves no files. */
  file_wait: z._default(z.nullable(z.int()), null),
  /** Whether `heldFiles/{session}` has an entry of the current claim. */
  files_held: z._default(z.boolean(), false),
  /** Task whose files the task waits for. */
  files_wait: z._default(z.nullable(z.string()), null),
  /** When the task was first put off for its files. */
  files_since: z._default(z.nullable(timestamp), null),
};
