/** A task of the one work queue: `tasks/{taskId}`. Source: docs/semantics.md#one-model. */

import { z } from 'zod/mini';
import { foldedCapability } from '../../../agents/rules/agent.ts';
import { type GraphNode, placeFields } from '../../../graph/rules/graphNode.ts';
import { documentCodec, fieldsCodec, jsonText, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';

/** The stored states. `waiting` is a coding task whose agent is done while its session is alive. */
export const TASK_STATUSES = [
  'available',
  'claimed',
  'in_progress',
  'waiting',
  'done',
  'failed',
  'cancelled',
] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

/** By the specification's name: the program, which is also the capability that a runner declares. */
export const PROGRAMS = { CLAUDECODE: 'claude', GEMINI: 'gemini' } as const;

export type CodingTool = keyof typeof PROGRAMS;

export const CODING_TOOLS: readonly CodingTool[] = ['CLAUDECODE', 'GEMINI'];

export const FAILURE_CLASSES = [
  'queue_expired',
  'runner_lost',
  'cli_missing',
  'authentication',
  'rate_limit',
  'no_output',
  'crashed',
  'cancelled',
  'acceptance_failed',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

const failure = z.object({ class: z.enum(FAILURE_CLASSES), message: z.string() });

const codingDocument = z.object({
  tool: z.enum(CODING_TOOLS),
  instructions: z.string(),
  branch: z.string(),
  config: jsonText,
  /** The repository, as `owner/name` or a label of the runner's, once somebody has said which. */
  project: z.nullable(z.string()),
  /** Who may end it beside leaders: the creator's owner. */
  owner_uid: z.string(),
  /** How long it may wait for a runner, in seconds. */
  queue_seconds: z.number(),
  /** While it waits: when it has waited too long. */
  queue_ends_at: timestamp,
  progress: z.nullable(z.string()),
  failure: z.nullable(failure),
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
  returns: z._default(z.int(), 0),
  /** The result of an attempt is in documents of its own, for a task holds no megabyte beside itself. */
  result: z.nullable(z.object({ claim_epoch: z.int(), bytes: z.int(), parts: z.int() })),
});

const resultPart = z.object({ json: z.string() });

/** A part of the JSON of what an attempt brought. */
export function resultPartFromDocument(data: unknown): string {
  return resultPart.parse(data).json;
}

const result = z.object({
  output: z.string(),
  files_modified: z.exactOptional(z.array(z.string())),
  files_created: z.exactOptional(z.array(z.string())),
});

/** A task, flat, in the specification's words. What has a default is younger than the first tasks that are stored. */
const ownFields = z.object({
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
  context: z.object({ files: z.array(z.string()), hints: z.exactOptional(z.string()) }),
  created_at: timestamp,
  created_by: z.string(),
  /** The epoch of the latest claim; 0 before the first. */
  claim_epoch: z.int(),
  /** Former holders whose lease lapsed, latest last. */
  lapsed_claims: z.array(z.object({ agent_id: z.string(), claim_epoch: z.int() })),
  /** How many retryable failures it has had. */
  retries: z.int(),
  /** While it backs off: when it becomes claimable again. */
  retry_at: z.nullable(timestamp),
  result: z.nullable(result),
  error: z.nullable(z.string()),
  completed_at: z.nullable(timestamp),
  /** What a former holder brought after somebody else had claimed the task. */
  late_result: z.nullable(
    z.object({
      agent_id: z.string(),
      claim_epoch: z.int(),
      received_at: timestamp,
      result: z.exactOptional(result),
      error: z.exactOptional(z.string()),
    }),
  ),
  coding: z._default(z.nullable(codingDocument), null),
  /** Whose agents may decide about it beside leaders: the creator's owner. */
  owner_uid: z._default(z.nullable(z.string()), null),
  /** How it ended before somebody had it tried again, latest last. */
  former_ends: z._default(
    z.array(
      z.object({
        status: z.enum(['failed', 'cancelled']),
        error: z.nullable(z.string()),
        ended_at: timestamp,
        claim_epoch: z.int(),
        agent_id: z.nullable(z.string()),
        retries: z.int(),
      }),
    ),
    [],
  ),
  /** The claim that somebody has taken away from its holder: it does not come back by a sign of life. */
  released_epoch: z._default(z.nullable(z.int()), null),
  /** Dependencies that can never start themselves, each with the task that failed or was cancelled. */
  stuck_dependencies: z._default(z.record(z.string(), z.string()), {}),
  /** The task that it can never start for, as its dependents have been told; `stuck` is whether there is one. */
  stuck_by: z._default(z.nullable(z.string()), null),
  stuck: z._default(z.boolean(), false),
  /** Its dependencies have changed since its dependents were told. */
  stuck_unsettled: z._default(z.boolean(), false),
  /** What the creator named. `type` is made of it for queries. */
  given_type: z._default(z.nullable(z.string()), null),
  /**
   * When it should be done. At equal priority what is due earlier comes first, and what has none last: left out where
   * there is none, so that the index of deadlines holds no others.
   */
  deadline: z.exactOptional(timestamp),
  /** The question that its holder has asked a person; the claim stands until it is answered. */
  waiting_for: z._default(
    z.nullable(
      z.object({
        request_id: z.string(),
        /** The name of the person. */
        who: z.string(),
        until: timestamp,
      }),
    ),
    null,
  ),
  ...placeFields,
  /** The budget that is spent, by its key, for which a coding task waits as it does for a retry. */
  budget_wait: z._default(z.nullable(z.string()), null),
  /** The latest check that failed on its pull request; null before the first. Names and addresses are GitHub's. */
  failed_check: z._default(
    z.nullable(
      z.object({
        name: z.string(),
        at: timestamp,
        repository: z.string(),
        pull_request: z.int(),
        url: z.exactOptional(z.string()),
      }),
    ),
    null,
  ),
  /** What its attempts have taken that are over; null before the first. Tokens and money as far as they were reported. */
  spent: z._default(
    z.nullable(
      z.object({
        input_tokens: z.number(),
        output_tokens: z.number(),
        cost_usd: z.number(),
        milliseconds: z.number(),
      }),
    ),
    null,
  ),
  /** Its result is there, and it is done when all that is part of it is: who reported it, and what stands against that. */
  parts_awaited: z._default(
    z.nullable(
      z.object({ agent_id: z.string(), claim_epoch: z.int(), since: timestamp, failed: z.array(z.string()) }),
    ),
    null,
  ),
});

const codec = documentCodec(ownFields);

export type StoredTask = ReturnType<typeof codec.fromDocument>;

/** The claim, whose fields lie among the task's; its epoch is the task's. */
const claimFields = z.object({
  claimed_by: z.nullable(z.string()),
  claimed_at: z.nullable(timestamp),
  lease_seconds: z.nullable(z.int()),
  lease_expires_at: z.nullable(timestamp),
  started_at: z.nullable(timestamp),
  claimed_by_runner: z._default(z.boolean(), false),
});

const claims = documentCodec(claimFields);

/** All that the document of a task says; its type, which queries go by, follows from the other fields. */
export const taskDocument = z.extend(ownFields, { ...claimFields.shape, type: z.string() });

/** Every field is always written, so that replacing a task leaves nothing of the old one behind. */
export function taskToDocument(task: Task): Record<string, unknown> {
  return {
    ...codec.toDocument(task),
    ...claims.toDocument({ claimed_by_runner: false, ...task.claim }),
    type: taskType(task),
    capability_key: capabilityKey(task.required_capabilities),
  };
}

export function taskFromDocument(data: unknown): Task {
  const task = codec.fromDocument(data);
  const {
    claimed_by: agentId,
    claimed_at,
    lease_expires_at,
    claimed_by_runner: isRunners,
    ...rest
  } = claims.fromDocument(data);
  if (agentId === undefined || claimed_at === undefined || lease_expires_at === undefined) return task;
  const lease = {
    lease_seconds: 0,
    lease_expires_at,
    ...rest,
    ...(isRunners && { claimed_by_runner: isRunners }),
  };
  return { ...task, claim: { claimed_by: agentId, claim_epoch: task.claim_epoch, claimed_at, ...lease } };
}

export const taskFields = fieldsCodec<Task>(taskToDocument, taskFromDocument);

/** The type of a task whose creator names none. */
export const USUAL_TYPE = 'coordination';

export const CODING_TYPE = 'coding';

export function taskType({
  coding,
  given_type: type = USUAL_TYPE,
}: Pick<Task, 'coding' | 'given_type'>): string {
  return coding === undefined ? type : CODING_TYPE;
}

export const SEPARATOR = '|';

/**
 * The key of a set of capabilities; the empty set's is the empty text. Case does not count. Agents are matched to tasks
 * without reading tasks: a session keeps the keys of the few different sets that its tasks require, and a claim asks
 * only for those that its agent satisfies.
 */
export function capabilityKey(required: readonly string[]): string {
  return [...new Set(required.map(foldedCapability))].sort().join(SEPARATOR);
}

/** Who reports an outcome. `epoch`, where given, must be the claim's: an older one never overwrites. */
export interface Claimant {
  readonly agent_id: string;
  readonly claim_epoch?: number | undefined;
}

export type ReportedOutcome =
  | {
      readonly kind: 'done';
      readonly result: TaskResult;
      /** Whether it is done only when all is that is part of it. Without parts it is done at once. */
      readonly whenPartsDone?: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly retryable: boolean;
      /** Where it is not the usual one: how often in all, and the wait before this one; 0 is none. */
      readonly retry?: { readonly limit: number; readonly backoffSeconds: number };
    }
  /** The holder returns the task: it is available again after so many seconds, and no retry is used up. */
  | { readonly kind: 'returned'; readonly error: string; readonly afterSeconds: number };

export interface TaskOutcome {
  /** `accepted`: closed, or waits for a retry or parts; `repeated`: reported before; `late`: somebody else has claimed it since. */
  readonly kind: 'accepted' | 'repeated' | 'late';
  readonly task: Task;
}

/** Who may work on a task, until when. `epoch` fences: it grows with every claim of the task. */
export interface Claim {
  readonly claimed_by: string;
  readonly claim_epoch: number;
  readonly claimed_at: Date;
  readonly lease_seconds: number;
  readonly lease_expires_at: Date;
  readonly started_at?: Date;
  /** A runner's: only what it says of this task extends the lease, not just any call of its agent. */
  readonly claimed_by_runner?: true;
}

/** `claim` is the one in force, or the one that closed the task. store/documents.ts tells of the other fields. */
export type Task = StoredTask & { readonly claim?: Claim };

/** A claim whose lease ran out: its holder may still come back with a result. */
export type LapsedClaim = Task['lapsed_claims'][number];

export type TaskResult = NonNullable<Task['result']>;

export function isClosed(status: TaskStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

export function isHeld(status: TaskStatus): boolean {
  return status === 'claimed' || status === 'in_progress' || status === 'waiting';
}

/** The question that a task waits for, while somebody holds it. */
export function askedFor({ waiting_for, status }: Task): Task['waiting_for'] {
  return isHeld(status) ? waiting_for : undefined;
}

/** How long ago a deadline may be that its creator still took for the future. */
const GRACE_MILLISECONDS = 60_000;

/** @param field the argument that names the deadline. @throws MusterError VALIDATION_ERROR where it was over a minute ago */
export function requireAhead(deadline: Date | undefined, field: string, now: Date): void {
  if (deadline === undefined || deadline.getTime() >= now.getTime() - GRACE_MILLISECONDS) return;
  throw new MusterError('VALIDATION_ERROR', `The deadline ${deadline.toISOString()} has passed already.`, {
    field,
    value: deadline.toISOString(),
    reason: 'DEADLINE_PASSED',
    suggestion: `It is ${now.toISOString()} now. Name a later time, or leave the deadline out.`,
  });
}

/** The states of a task in coordination's words. Source: docs/semantics.md#one-model. */
export const COORDINATION_STATUSES = ['available', 'claimed', 'in_progress', 'done', 'failed'] as const;

type CoordinationStatus = (typeof COORDINATION_STATUSES)[number];

export function coordinationStatus(status: TaskStatus): CoordinationStatus {
  if (status === 'waiting') return 'in_progress';
  return status === 'cancelled' ? 'failed' : status;
}

/** The stored states that one of coordination's words stands for. */
export function storedStatuses(word: CoordinationStatus): readonly TaskStatus[] {
  return TASK_STATUSES.filter((status) => coordinationStatus(status) === word);
}

export const PRIORITY_WORDS = ['critical', 'high', 'normal', 'low'] as const;

export type PriorityWord = (typeof PRIORITY_WORDS)[number];

export const PRIORITY_RANGES = {
  critical: { from: 1, to: 2 },
  high: { from: 3, to: 4 },
  normal: { from: 5, to: 6 },
  low: { from: 7, to: 10 },
} as const satisfies Record<PriorityWord, { from: number; to: number }>;

export function priorityWord(priority: number): PriorityWord {
  return PRIORITY_WORDS.find((word) => priority <= PRIORITY_RANGES[word].to) ?? 'low';
}

/** Only the tasks of a type, or of those who are somebody's, are asked for. */
export interface QueuePart {
  readonly type?: string | undefined;
  /** Whose agents, or who, created them: of coding tasks. */
  readonly owner?: string | undefined;
}

/** The order of the queue: priority, then deadline, what has none last, then creation, then id. */
export function compareInQueue(one: Task, other: Task): number {
  return (
    one.priority - other.priority ||
    // Where neither has one this is not a number, and the next decides.
    Number(one.deadline ?? Infinity) - Number(other.deadline ?? Infinity) ||
    one.created_at.getTime() - other.created_at.getTime() ||
    (one.id < other.id ? -1 : Number(one.id > other.id))
  );
}

/** The most capabilities that one task may require. */
export const MAX_REQUIRED_CAPABILITIES = 10;

/** The longest key. Firestore queries no text above 1500 bytes, and one key too long would fail every claim. */
export const MAX_CAPABILITY_KEY_BYTES = 1200;

/** The most different sets of required capabilities in one session. */
export const MAX_CAPABILITY_KEYS = 150;

/** The keys among `keys` that an agent with these capabilities satisfies; the empty one always. */
export function satisfiedKeys(keys: readonly string[], capabilities: readonly string[]): string[] {
  const has = new Set(capabilities.map(foldedCapability));
  const isSatisfied = (key: string) => key.split(SEPARATOR).every((name) => has.has(foldedCapability(name)));
  return ['', ...keys.filter((key) => key !== '' && isSatisfied(key)).sort()];
}

/** How the ids of all tasks of all runs begin, and of no others. */
export const TASKS_OF_RUNS = 'run-';

export function isOfRun({ id }: Pick<Task, 'id'>): boolean {
  return id.startsWith(TASKS_OF_RUNS);
}

export function taskNotFound(taskId: string): MusterError {
  return new MusterError('NOT_FOUND', `No task "${taskId}".`, {
    field: 'task_id',
    value: taskId,
    suggestion: 'coordination.get_all_tasks lists the tasks of this workspace.',
  });
}

export interface TaskChanges {
  readonly createTask: { readonly task: Task };
  readonly replaceTask: { readonly task: Task; readonly before: Task; readonly version: string };
  /** It ended long ago, and nothing open refers to it. Its totals stay. */
  readonly removeTask: { readonly task: Task; readonly node: GraphNode; readonly version: string };
  /** A dependency of the task was closed: one blocker fewer, or one that will never go. */
  readonly dependencyDone: { readonly taskId: string };
  readonly dependencyFailed: { readonly taskId: string; readonly dependencyId: string };
  /** The result of a dependency was taken back: one blocker more. */
  readonly dependencyReopened: { readonly taskId: string; readonly version: string };
  readonly dependencyRevived: { readonly taskId: string; readonly dependencyId: string };
  /** The dependency can never start itself, because of the task `by`; without it, it can again. */
  readonly dependencyStuck: { readonly taskId: string; readonly dependencyId: string; readonly by?: string };
  readonly addDependents: {
    readonly taskId: string;
    readonly dependents: readonly string[];
    readonly version: string;
  };
  readonly removeDependent: { readonly taskId: string; readonly dependentId: string };
  /** A check of the pull request of a task failed. An entry of the same id is written again. `details` is others' data. */
  readonly logFailedCheck: {
    readonly task: Pick<Task, 'id' | 'workspace'>;
    readonly entry: Pick<NonNullable<Task['failed_check']>, 'at' | 'repository' | 'pull_request'> & {
      readonly id: string;
      readonly details: JsonObject;
    };
  };
  /** Marks the task: this check of its pull request is the one that failed last. */
  readonly checkFailed: { readonly taskId: string; readonly check: NonNullable<Task['failed_check']> };
  readonly checkPassed: { readonly taskId: string; readonly version: string };
}
