/** Task of the queue, stored as `tasks/{taskId}`. Source: docs/semantics.md#one-model. */
import { z } from 'zod/mini';
import { foldedCapability } from '../../../agents/rules/agent.ts';
import { type GraphNode, parentFields, titleOf } from '../../../graph/rules/graphNode.ts';
import { documentCodec, fieldsCodec, jsonText, timestamp } from '../../../kernel/documentCodec.ts';
import { MusterError, notFound } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { prefixesOf } from '../../../kernel/textSearch.ts';
import type { SharedFile } from './files/heldFiles.ts';
import { fileFields, type HandedInWork, proofFields, RUNS_COMMANDS, type Verdict } from './proof/proofFields.ts';

/** Stored statuses. `waiting`: the task awaits its parts, or its coding agent has finished but is still connected. */
export const TASK_STATUSES = ['available', 'claimed', 'in_progress', 'waiting', 'done', 'failed', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Program of each coding tool that Muster knows. A runner registers the program's name as a capability. */
export const PROGRAMS: ReadonlyMap<string, string> = new Map(
  Object.entries({ CLAUDECODE: 'claude', GEMINI: 'gemini', CODEX: 'codex', OPENCODE: 'opencode', COPILOT: 'copilot' }),
);
export const CODING_TOOLS: readonly string[] = [...PROGRAMS.keys()];

const PROGRAM_CAPABILITY = new RegExp(`^(${[...PROGRAMS.values()].join('|')}|agent:[a-z][a-z0-9_]+|${RUNS_COMMANDS})$`);

/** Returns whether coding tasks require this capability for their tool. @param name as `foldedCapability` returns it */
export function isProgramCapability(name: string): boolean {
  return PROGRAM_CAPABILITY.test(name);
}

/** Name of any coding tool, also of those that only a runner knows. */
export const TOOL_NAME = /^[A-Z][A-Z0-9_]{1,31}$/;

/**
 * Coding tools that the last release can read. The documents of tasks for other tools contain the first of these
 * tools, and their own in `coding_tool`. Source: docs/decisions/0056-any-coding-agent.md.
 */
const READABLE_TOOLS: readonly string[] = ['CLAUDECODE', 'GEMINI'];

/** How a coding agent hears a message while it works: with its next model request, or after its current turn. */
export const HEARINGS = ['between_steps', 'between_turns'] as const;
export type Hearing = (typeof HEARINGS)[number];

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
  'over_budget',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

const failureClass = z.enum(FAILURE_CLASSES);

/** The last release cannot read the class `over_budget`, so the field `class` contains one that is final too. */
const failure = z.codec(
  z.object({ class: failureClass, exact_class: z.exactOptional(failureClass), message: z.string() }),
  z.object({ class: failureClass, message: z.string() }),
  {
    decode: ({ class: readable, exact_class: kind = readable, message }) => ({ class: kind, message }),
    encode: ({ class: kind, message }) =>
      kind === 'over_budget' ? { class: 'cancelled' as const, exact_class: kind, message } : { class: kind, message },
  },
);

const codingDocument = z.object({
  tool: z.string().check(z.regex(TOOL_NAME)),
  instructions: z.string(),
  branch: z.string(),
  config: jsonText,
  /** Repository, as `owner/name` or as the runner's label for it. Set by the creator or by the first runner. */
  project: z.nullable(z.string()),
  /** Owner of the creator. The owner may end the task, and so may leaders. */
  owner_uid: z.string(),
  /** Maximum time that the task waits for a runner, in seconds. */
  queue_seconds: z.number(),
  queue_ends_at: timestamp,
  progress: z.nullable(z.string()),
  failure: z.nullable(failure),
  /** Ended attempts with their latest reported commits. The attempt that closed the task is not included. */
  attempts: z.array(
    z.object({
      claim_epoch: z.int(),
      agent_id: z.string(),
      ended_at: timestamp,
      failure,
      commits: z.array(z.object({ sha: z.string(), subject: z.string() })),
    }),
  ),
  /** Number of claims that the holder returned. They do not count as attempts, and `attempts` omits them. */
  returns: z._default(z.int(), 0),
  /** Location of the result. It is stored in separate documents, because a document can have at most 1 MiB. */
  result: z.nullable(z.object({ claim_epoch: z.int(), bytes: z.int(), parts: z.int() })),
  /** Command that a runner runs for another task, instead of a coding agent. */
  command: z.exactOptional(z.string()),
});

const resultPart = z.object({ json: z.string() });

/** Returns a part of the JSON of an attempt's result. */
export function resultPartFromDocument(data: unknown): string {
  return resultPart.parse(data).json;
}

const result = z.object({
  output: z.string(),
  files_modified: z.exactOptional(z.array(z.string())),
  files_created: z.exactOptional(z.array(z.string())),
});

/** Fields of a task document, named as in the specification. Old documents may lack fields that have a default. */
const ownFields = z.object({
  id: z.string(),
  workspace: z.string(),
  /** Session of the task. Archiving the session removes the task from the queue. */
  session: z.string(),
  description: z.string(),
  /** From 1 (claimed first) to 10 (claimed last). */
  priority: z.int(),
  status: z.enum(TASK_STATUSES),
  dependencies: z.array(z.string()),
  /** Ids of the tasks that depend on this task, so that closing this task needs no query. */
  dependents: z.array(z.string()),
  /** Number of reasons why the task cannot be claimed: its open dependencies, plus one during a retry delay. */
  blockers: z.int(),
  failed_dependencies: z.array(z.string()),
  required_capabilities: z.array(z.string()),
  context: z.object({ files: z.array(z.string()), hints: z.exactOptional(z.string()) }),
  created_at: timestamp,
  created_by: z.string(),
  /** Claim epoch of the latest claim; 0 before the first claim. */
  claim_epoch: z.int(),
  /** Previous holders whose lease expired, or from whom the task was released on request. The latest is last. */
  lapsed_claims: z.array(
    z.object({
      agent_id: z.string(),
      claim_epoch: z.int(),
      released: z.exactOptional(z.literal(true)),
      /** Person or agent that asked for the release, with the reason. */
      reason: z.exactOptional(z.string()),
    }),
  ),
  retries: z.int(),
  retry_at: z.nullable(timestamp),
  result: z.nullable(result),
  error: z.nullable(z.string()),
  completed_at: z.nullable(timestamp),
  /** Report of a previous holder that arrived after another agent had claimed the task. */
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
  /** Coding tool, if the last release cannot read it in `coding.tool`. */
  coding_tool: z._default(z.nullable(z.string()), null),
  /** Owner of the creator. Agents of this owner may manage the task, and so may leaders. */
  owner_uid: z._default(z.nullable(z.string()), null),
  /** Outcomes that the task had before each retry. The latest is last. */
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
  /** Epoch of a claim that was released on request. A heartbeat does not restore this claim. */
  released_epoch: z._default(z.nullable(z.int()), null),
  /** For each stuck dependency, the task that makes the dependency stuck because it failed or was cancelled. */
  stuck_dependencies: z._default(z.record(z.string(), z.string()), {}),
  /** Task that makes this task stuck, as this task's dependents store it. `stuck` is true if this field is set. */
  stuck_by: z._default(z.nullable(z.string()), null),
  stuck: z._default(z.boolean(), false),
  /** Whether the dependents of the task must still be updated about whether it is stuck. */
  stuck_unsettled: z._default(z.boolean(), false),
  /** Type that the creator set. The stored field `type` is derived from this field for queries. */
  given_type: z._default(z.nullable(z.string()), null),
  /**
   * Time by which the task should be closed. At equal priority, earlier deadlines come first, and tasks without a
   * deadline last. Omitted if there is no deadline, so that the index of deadlines does not contain the task.
   */
  deadline: z.exactOptional(timestamp),
  /** Question that the holder asked a person. The lease lasts at least until the question is answered or expires. */
  waiting_for: z._default(z.nullable(z.object({ request_id: z.string(), who: z.string(), until: timestamp })), null),
  ...parentFields,
  /** Key of the exhausted budget for which a coding task waits. The wait is stored like a retry delay. */
  budget_wait: z._default(z.nullable(z.string()), null),
  /** Latest failed check of the task's pull request; null before the first. The name and the URL come from GitHub. */
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
  /** Usage of the ended attempts; null before the first. Tokens and cost are present only if they were reported. */
  spent: z._default(
    z.nullable(
      z.object({ input_tokens: z.number(), output_tokens: z.number(), cost_usd: z.number(), milliseconds: z.number() }),
    ),
    null,
  ),
  /** W3C trace context of the call that created the coding task. Its runner passes it to the coding agent. */
  traceparent: z._default(z.nullable(z.string()), null),
  /** Set while a finished task waits for its parts: the agent that reported the result, and the parts that failed. */
  parts_awaited: z._default(
    z.nullable(
      z.object({
        agent_id: z.string(),
        claim_epoch: z.int(),
        since: timestamp,
        failed: z.array(z.string()),
        /** Branch of the work, if its command must succeed there. */
        branch: z.exactOptional(z.string()),
      }),
    ),
    null,
  ),
  ...proofFields,
  ...fileFields,
});

const codec = documentCodec(ownFields);
export type StoredTask = Omit<ReturnType<typeof codec.fromDocument>, 'coding_tool'>;

/** Fields of the current claim, stored in the task document. The claim epoch is a field of the task. */
const claimFields = z.object({
  claimed_by: z.nullable(z.string()),
  claimed_at: z.nullable(timestamp),
  lease_seconds: z.nullable(z.int()),
  lease_expires_at: z.nullable(timestamp),
  started_at: z.nullable(timestamp),
  claimed_by_runner: z._default(z.boolean(), false),
  hearing: z._default(z.nullable(z.enum(HEARINGS)), null),
});

const claims = documentCodec(claimFields);

/** All fields of a task document. `type` is derived from other fields, for queries. */
export const taskDocument = z.extend(ownFields, { ...claimFields.shape, type: z.string() });

/** Returns the document of a task. It contains every field, so that it overwrites all fields of the old document. */
export function taskToDocument(task: Task): Record<string, unknown> {
  const { coding } = task;
  const isReadable = coding === undefined || READABLE_TOOLS.includes(coding.tool);
  const [tool = ''] = READABLE_TOOLS;
  const readable = isReadable ? task : { ...task, coding: { ...coding, tool }, coding_tool: coding.tool };
  return {
    ...codec.toDocument(readable),
    ...claims.toDocument({ claimed_by_runner: false, ...task.claim }),
    type: taskType(task),
    capability_key: capabilityKey(task.required_capabilities),
  };
}

export function taskFromDocument(data: unknown): Task {
  const { coding_tool: tool, ...read } = codec.fromDocument(data);
  const task = read.coding && tool !== undefined ? { ...read, coding: { ...read.coding, tool } } : read;
  const {
    claimed_by,
    claimed_at,
    lease_expires_at,
    claimed_by_runner: isRunners,
    ...lease
  } = claims.fromDocument(data);
  if (claimed_by === undefined || claimed_at === undefined || lease_expires_at === undefined) return task;
  const held = { lease_seconds: 0, lease_expires_at, ...lease, ...(isRunners && { claimed_by_runner: isRunners }) };
  return { ...task, claim: { claimed_by, claim_epoch: task.claim_epoch, claimed_at, ...held } };
}

export const taskFields = fieldsCodec<Task>(taskToDocument, taskFromDocument);
export const DEFAULT_TYPE = 'coordination';
export const CODING_TYPE = 'coding';

export function taskType({ coding, given_type: type = DEFAULT_TYPE }: Pick<Task, 'coding' | 'given_type'>): string {
  return coding === undefined ? type : CODING_TYPE;
}

export const SEPARATOR = '|';

/**
 * Returns the key of a set of capabilities. Case is ignored, and the key of the empty set is the empty string. A
 * session stores the keys of the sets that its tasks require. A claim queries the keys that its agent satisfies, and
 * thus need not read tasks to find a match.
 */
export function capabilityKey(required: readonly string[]): string {
  return [...new Set(required.map(foldedCapability))].sort().join(SEPARATOR);
}

/** Agent that reports an outcome. `claim_epoch`, if set, must match the claim, so that an old report does nothing. */
export interface Claimant {
  readonly agent_id: string;
  readonly claim_epoch?: number | undefined;
}

export type ReportedOutcome =
  | {
      readonly kind: 'done';
      readonly result: TaskResult;
      /** Where the work is, and what its runner has checked, for a task with an acceptance. */
      readonly work?: HandedInWork | undefined;
      /** Verdict of a review, whose comments are the output of the result. */
      readonly verdict?: Verdict | undefined;
      /** Whether the task is done only when all its parts are done. A task without parts is done immediately. */
      readonly whenPartsDone?: boolean;
    }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly retryable: boolean;
      /** Replaces the default maximum number of retries, and the default delay before this retry (0 for no delay). */
      readonly retry?: { readonly limit: number; readonly backoffSeconds: number };
    }
  /** The holder returns the task. It becomes available after `afterSeconds`, and does not count as a retry. */
  | { readonly kind: 'returned'; readonly error: string; readonly afterSeconds: number };

export interface TaskOutcome {
  /** `accepted`: the task changed; `repeated`: reported before; `late`: another agent has claimed the task. */
  readonly kind: 'accepted' | 'repeated' | 'late';
  readonly task: Task;
  /** For a review: the task that it judges, if it still exists, and whether the verdict had no effect. */
  readonly reviewed?: { readonly task: Task | undefined; readonly isLate: boolean };
  /** Reported files outside the reserved ones that other tasks have reserved. */
  readonly shared?: readonly SharedFile[];
}

/** Right to work on a task until the lease expires. `claim_epoch` grows with each claim, to reject old holders. */
export interface Claim {
  readonly claimed_by: string;
  readonly claim_epoch: number;
  readonly claimed_at: Date;
  readonly lease_seconds: number;
  readonly lease_expires_at: Date;
  readonly started_at?: Date;
  /** Set if a runner made the claim. Only heartbeats for this task renew the lease, not every call of the agent. */
  readonly claimed_by_runner?: true;
  /** How the claim's coding agent hears messages while it works, as its runner reports it. */
  readonly hearing?: Hearing;
}

/** Task with its current claim. A closed task has the claim that closed it. */
export type Task = StoredTask & { readonly claim?: Claim };

/** Claim whose lease expired. Its holder can still report a result. */
export type ExpiredClaim = Task['lapsed_claims'][number];
export type TaskResult = NonNullable<Task['result']>;

export function isClosed(status: TaskStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

export function isHeld(status: TaskStatus): boolean {
  return status === 'claimed' || status === 'in_progress' || status === 'waiting';
}

/** Returns the question whose answer a held task waits for. */
export function pendingQuestionOf({ waiting_for, status }: Task): Task['waiting_for'] {
  return isHeld(status) ? waiting_for : undefined;
}

/** Deadlines up to this long ago are accepted, because calls can be slow and clocks differ. */
const GRACE_MS = 60_000;

/** Checks the deadline in argument `field`. @throws MusterError VALIDATION_ERROR if it was over a minute ago */
export function requireFutureDeadline(deadline: Date | undefined, field: string, now: Date): void {
  if (deadline === undefined || deadline.getTime() >= now.getTime() - GRACE_MS) return;
  throw new MusterError('VALIDATION_ERROR', `The deadline ${deadline.toISOString()} is in the past.`, {
    field,
    value: deadline.toISOString(),
    reason: 'DEADLINE_PASSED',
    suggestion: `Use a time after ${now.toISOString()}, or omit the deadline.`,
  });
}

/** Statuses that the coordination tools return. Source: docs/semantics.md#one-model. */
export const COORDINATION_STATUSES = ['available', 'claimed', 'in_progress', 'done', 'failed'] as const;
type CoordinationStatus = (typeof COORDINATION_STATUSES)[number];

export function coordinationStatus(status: TaskStatus): CoordinationStatus {
  if (status === 'waiting') return 'in_progress';
  return status === 'cancelled' ? 'failed' : status;
}

/** Returns the stored statuses that the coordination tools return as `word`. */
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

/** Filter for claims, by type or owner. */
export interface QueuePart {
  readonly type?: string | undefined;
  /** Owner of coding tasks: the person who created them, or whose agents created them. */
  readonly owner?: string | undefined;
}

/** Compares tasks in the order of the queue: priority, deadline (tasks without one are last), creation time, id. */
export function compareInQueue(one: Task, other: Task): number {
  return (
    one.priority - other.priority ||
    // If neither task has a deadline, the difference is NaN, and the next criterion decides.
    Number(one.deadline ?? Infinity) - Number(other.deadline ?? Infinity) ||
    one.created_at.getTime() - other.created_at.getTime() ||
    (one.id < other.id ? -1 : Number(one.id > other.id))
  );
}

/** Maximum number of entries by which a task is found. The last words of a long title are then not found. */
const MAX_WORDS = 80;
export const MIN_SEARCH_PREFIX = 2;

/** Returns the entries by which a search finds a task: its id, and the prefixes of the words of its title. */
export function taskWords({ id, description }: Pick<Task, 'id' | 'description'>): readonly string[] {
  const prefixes = prefixesOf(titleOf(description)).filter((prefix) => prefix.length >= MIN_SEARCH_PREFIX);
  return [id, ...prefixes].slice(0, MAX_WORDS);
}

export const MAX_REQUIRED_CAPABILITIES = 10;

/** Maximum length of a capability key. Firestore cannot query longer texts than 1,500 bytes. */
export const MAX_CAPABILITY_KEY_BYTES = 1200;
export const MAX_CAPABILITY_KEYS = 150;

/** Returns those of the keys that an agent with these capabilities satisfies. The empty key is always included. */
export function satisfiedKeys(keys: readonly string[], capabilities: readonly string[]): string[] {
  const has = new Set(capabilities.map(foldedCapability));
  const isSatisfied = (key: string) => key.split(SEPARATOR).every((name) => has.has(foldedCapability(name)));
  return ['', ...keys.filter((key) => key !== '' && isSatisfied(key)).sort()];
}

/** Prefix of the ids of all tasks of runs. Other tasks never have this prefix. */
export const TASKS_OF_RUNS = 'run-';

export function isOfRun({ id }: Pick<Task, 'id'>): boolean {
  return id.startsWith(TASKS_OF_RUNS);
}

export function taskNotFound(taskId: string): MusterError {
  return notFound('Task', { task_id: taskId }, 'coordination.get_all_tasks lists the tasks of this workspace.');
}

export interface TaskChanges {
  readonly createTask: { readonly task: Task };
  readonly replaceTask: { readonly task: Task; readonly before: Task; readonly version: string };
  /** Deletes a task after its retention, if no open task refers to it. The totals of its graph node are kept. */
  readonly removeTask: { readonly task: Task; readonly node: GraphNode; readonly version: string };
  /** A dependency was completed, so the task has one blocker fewer. If the dependency failed, the blocker stays. */
  readonly dependencyDone: { readonly taskId: string };
  readonly dependencyFailed: { readonly taskId: string; readonly dependencyId: string };
  /** The completion of a dependency was undone, so the task has one blocker more. */
  readonly dependencyReopened: { readonly taskId: string; readonly version: string };
  readonly dependencyRevived: { readonly taskId: string; readonly dependencyId: string };
  /** The dependency is stuck because the task `by` failed or was cancelled. Without `by`, it is no longer stuck. */
  readonly dependencyStuck: { readonly taskId: string; readonly dependencyId: string; readonly by?: string };
  readonly addDependents: { readonly taskId: string; readonly dependents: readonly string[]; readonly version: string };
  readonly removeDependent: { readonly taskId: string; readonly dependentId: string };
  /** Logs a failed check of a pull request. Replaces an entry with the same id. `details` comes from GitHub. */
  readonly logFailedCheck: {
    readonly task: Pick<Task, 'id' | 'workspace'>;
    readonly entry: Pick<NonNullable<Task['failed_check']>, 'at' | 'repository' | 'pull_request'> & {
      readonly id: string;
      readonly details: JsonObject;
    };
  };
  readonly checkFailed: { readonly taskId: string; readonly check: NonNullable<Task['failed_check']> };
  readonly checkPassed: { readonly taskId: string; readonly version: string };
}
