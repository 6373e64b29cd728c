/** Tasks, sessions, counters and discoveries as Firestore keeps them. */

import { z } from 'zod';
import { placeFields } from '../../../graph/rules/node.ts';
import { documentCodec, jsonText, timestamp } from '../../../kernel/firestore/codec.ts';
import { fieldsCodec } from '../../../kernel/firestore/trail.ts';
import { CODING_TOOLS, FAILURE_CLASSES } from '../rules/codingTask.ts';
import { capabilityKey, TASK_STATUSES, type Task, taskType } from '../rules/task.ts';

const failure = z.object({ class: z.enum(FAILURE_CLASSES), message: z.string() });

const codingDocument = z.object({
  tool: z.enum(CODING_TOOLS),
  instructions: z.string(),
  branch: z.string(),
  config: jsonText,
  /** The repository, as `owner/name` or a label of the runner's, once somebody has said which. */
  project: z.string().nullable(),
  /** Who may end it beside leaders: the creator's owner. */
  owner_uid: z.string(),
  /** How long it may wait for a runner, in seconds. */
  queue_seconds: z.number(),
  /** While it waits: when it has waited too long. */
  queue_ends_at: timestamp,
  /** What its holder last said of it. */
  progress: z.string().nullable(),
  /** Why its last attempt failed. */
  failure: failure.nullable(),
  /** The attempts that are over, but for the one that closed the task, each with the latest commits that it reported. */
  attempts: z.array(
    z.object({
      claim_epoch: z.int(),
      agent_id: z.string(),
      ended_at: timestamp,
      failure,
      commits: z.array(z.object({ sha: z.string(), subject: z.string() })),
    }),
  ),
  /** How many claims were returned: they are no attempts, and `attempts` does not list them. */
  returns: z.int().default(0),
  /** The result of an attempt is in documents of its own, for a task holds no megabyte beside itself. */
  result: z.object({ claim_epoch: z.int(), bytes: z.int(), parts: z.int() }).nullable(),
});

const resultPart = z.object({ json: z.string() });

/** A part of the JSON of what an attempt brought. */
export function resultPartFromDocument(data: unknown): string {
  return resultPart.parse(data).json;
}

const result = z.object({
  output: z.string(),
  files_modified: z.array(z.string()).exactOptional(),
  files_created: z.array(z.string()).exactOptional(),
});

/**
 * A task: flat, in the specification's words, so that the console reads like the tools. What has a default is younger
 * than the first tasks that are stored.
 */
const document = z.object({
  id: z.string(),
  workspace: z.string(),
  /** The coordination session that it belongs to; archiving the session takes it out of the queue. */
  session: z.string(),
  description: z.string(),
  /** 1 (first) to 10 (last). */
  priority: z.int(),
  status: z.enum(TASK_STATUSES),
  dependencies: z.array(z.string()),
  /** The tasks that depend on this one, so that closing it needs no query. */
  dependents: z.array(z.string()),
  /** What stands between an available task and a claim: open dependencies, and one while it backs off. */
  blockers: z.int(),
  failed_dependencies: z.array(z.string()),
  required_capabilities: z.array(z.string()),
  context: z.object({ files: z.array(z.string()), hints: z.string().exactOptional() }),
  created_at: timestamp,
  created_by: z.string(),
  /** The epoch of the latest claim; 0 before the first. */
  claim_epoch: z.int(),
  /** Former holders whose lease lapsed, latest last. */
  lapsed_claims: z.array(z.object({ agent_id: z.string(), claim_epoch: z.int() })),
  /** How many retryable failures it has had. */
  retries: z.int(),
  /** While it backs off: when it becomes claimable again. */
  retry_at: timestamp.nullable(),
  result: result.nullable(),
  error: z.string().nullable(),
  completed_at: timestamp.nullable(),
  /** What a former holder brought after somebody else had claimed the task. */
  late_result: z
    .object({
      agent_id: z.string(),
      claim_epoch: z.int(),
      received_at: timestamp,
      result: result.exactOptional(),
      error: z.string().exactOptional(),
    })
    .nullable(),
  coding: codingDocument.nullable().default(null),
  /** Whose agents may decide about it beside leaders: the creator's owner. */
  owner_uid: z.string().nullable().default(null),
  /** How it ended before somebody had it tried again, latest last. */
  former_ends: z
    .array(
      z.object({
        status: z.enum(['failed', 'cancelled']),
        error: z.string().nullable(),
        ended_at: timestamp,
        claim_epoch: z.int(),
        agent_id: z.string().nullable(),
        retries: z.int(),
      }),
    )
    .default([]),
  /** The claim that somebody has taken away from its holder: it does not come back by a sign of life. */
  released_epoch: z.int().nullable().default(null),
  /** Dependencies that can never start themselves, each with the task that failed or was cancelled. */
  stuck_dependencies: z.record(z.string(), z.string()).default({}),
  /** The task that it can never start for, as its dependents have been told; `stuck` is whether there is one. */
  stuck_by: z.string().nullable().default(null),
  stuck: z.boolean().default(false),
  /** Its dependencies have changed since its dependents were told. */
  stuck_unsettled: z.boolean().default(false),
  /** What the creator named. `type` is made of it for queries. */
  given_type: z.string().nullable().default(null),
  /**
   * When it should be done. At equal priority what is due earlier comes first, and what has none last: left out where
   * there is none, so that the index of deadlines holds no others.
   */
  deadline: timestamp.exactOptional(),
  /** The question that its holder has asked a person; the claim stands until it is answered. */
  waiting_for: z
    .object({
      request_id: z.string(),
      /** The name of the person. */
      who: z.string(),
      until: timestamp,
    })
    .nullable()
    .default(null),
  ...placeFields,
  /** The budget that is spent, by its key, for which a coding task waits as it does for a retry. */
  budget_wait: z.string().nullable().default(null),
  /** The latest check that failed on its pull request; null before the first. Names and addresses are GitHub's. */
  failed_check: z
    .object({
      name: z.string(),
      at: timestamp,
      repository: z.string(),
      pull_request: z.int(),
      url: z.string().exactOptional(),
    })
    .nullable()
    .default(null),
  /** What its attempts have taken that are over; null before the first. Tokens and money as far as they were reported. */
  spent: z
    .object({
      input_tokens: z.number(),
      output_tokens: z.number(),
      cost_usd: z.number(),
      milliseconds: z.number(),
    })
    .nullable()
    .default(null),
  /** Its result is there, and it is done when all that is part of it is: who reported it, and what stands against that. */
  parts_awaited: z
    .object({
      agent_id: z.string(),
      claim_epoch: z.int(),
      since: timestamp,
      /** The keys of parts that have failed. */
      failed: z.array(z.string()),
    })
    .nullable()
    .default(null),
});

const codec = documentCodec(document, { claim_epoch: 'epoch', completed_at: 'closedAt', given_type: 'type' });

export type StoredTask = ReturnType<typeof codec.fromDocument>;

/** The claim, whose fields lie among the task's; its epoch is the task's. */
const claims = documentCodec(
  z.object({
    claimed_by: z.string().nullable(),
    claimed_at: timestamp.nullable(),
    lease_seconds: z.int().nullable(),
    lease_expires_at: timestamp.nullable(),
    started_at: timestamp.nullable(),
    claimed_by_runner: z.boolean().default(false),
  }),
  { claimed_by: 'agentId', claimed_by_runner: 'isRunners' },
);

/** Every field is always written, so that replacing a task leaves nothing of the old one behind. */
export function taskToDocument(task: Task): Record<string, unknown> {
  return {
    ...codec.toDocument(task),
    ...claims.toDocument({ isRunners: false, ...task.claim }),
    type: taskType(task),
    capability_key: capabilityKey(task.requiredCapabilities),
  };
}

export function taskFromDocument(data: unknown): Task {
  const task = codec.fromDocument(data);
  const { agentId, claimedAt, leaseExpiresAt, isRunners, ...rest } = claims.fromDocument(data);
  if (agentId === undefined || claimedAt === undefined || leaseExpiresAt === undefined) return task;
  const lease = { leaseSeconds: 0, leaseExpiresAt, ...rest, ...(isRunners && { isRunners }) };
  return { ...task, claim: { agentId, epoch: task.epoch, claimedAt, ...lease } };
}

export const taskFields = fieldsCodec<Task>(taskToDocument, taskFromDocument);

/**
 * One coordination: a goal, a plan and the tasks under it. A workspace has at most one that is open:
 * `workspaces/{workspace}` names it, `workspaces/{workspace}/sessions/{id}` is it, and archiving moves it to
 * `workspaces/{workspace}/archive/{id}`.
 */
export const { toDocument: sessionToDocument, fromDocument: sessionFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    /** Empty until init_coordination gives it one: tasks may be created before. */
    goal: z.string(),
    master_plan: z.string(),
    created_at: timestamp,
    /** Raised whenever its queue has this document written, so that of two commits that do so at once one is stale. */
    queue_version: z.int(),
    /** The keys of the sets of capabilities that its open tasks require, and of some that they no longer do. */
    capability_keys: z.array(z.string()),
    /** Over how many gates and counters it is spread. */
    spread: z.int(),
    /** The number of its first gate: gates are replaced when sets of capabilities are forgotten. */
    first_gate: z.int(),
  }),
);

export const sessionFields = fieldsCodec(sessionToDocument, sessionFromDocument);

const counterDocument = z.object({
  counts: z.partialRecord(z.enum([...TASK_STATUSES, 'discoveries']), z.int()).optional(),
  waits: z.object({ tasks: z.int(), milliseconds: z.number() }).optional(),
  last_activity: timestamp,
});

export type CounterShard = z.output<typeof counterDocument>;

export function counterFromDocument(data: unknown): CounterShard {
  return counterDocument.parse(data);
}

/** Something an agent found out and shares: `discoveries/{id}`. */
export const { toDocument: discoveryToDocument, fromDocument: discoveryFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    workspace: z.string(),
    session: z.string(),
    agent_id: z.string(),
    content: z.string(),
    tags: z.array(z.string()),
    created_at: timestamp,
  }),
);
