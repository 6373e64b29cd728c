/** A task of the one work queue: `tasks/{taskId}`. Source: docs/semantics.md#one-model. */
import { type ClosedWork, foldedCapability } from '../../../access/rules/agent.ts';
import { exactUsd, type GraphNode, NO_WORK, type Spent } from '../../../graph/rules/node.ts';
import type { Change } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { StoredTask } from '../store/documents.ts';
import type { TaskOutcome } from './stateMachine.ts';

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

/** Who may work on a task, until when. `epoch` fences: it grows with every claim of the task. */
export interface Claim {
  readonly agentId: string;
  readonly epoch: number;
  readonly claimedAt: Date;
  readonly leaseSeconds: number;
  readonly leaseExpiresAt: Date;
  readonly startedAt?: Date;
  /** A runner's: only what it says of this task extends the lease, not just any call of its agent. */
  readonly isRunners?: true;
}

/** `claim` is the one in force, or the one that closed the task. store/documents.ts tells of the other fields. */
export type Task = StoredTask & { readonly claim?: Claim };

/** A claim whose lease ran out: its holder may still come back with a result. */
export type LapsedClaim = Task['lapsedClaims'][number];

export type TaskResult = NonNullable<Task['result']>;

export function isClosed(status: TaskStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

export function isHeld(status: TaskStatus): boolean {
  return status === 'claimed' || status === 'in_progress' || status === 'waiting';
}

/** The question that a task waits for, while somebody holds it. */
export function askedFor({ waitingFor, status }: Task): Task['waitingFor'] {
  return isHeld(status) ? waitingFor : undefined;
}

/** How long ago a deadline may be that its creator still took for the future. */
const GRACE_MILLISECONDS = 60_000;

/**
 * @param field the argument that names the deadline
 * @throws MusterError VALIDATION_ERROR where it was more than a minute ago
 */
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

/** The priorities that a word stands for. */
export const PRIORITY_RANGES = {
  critical: { from: 1, to: 2 },
  high: { from: 3, to: 4 },
  normal: { from: 5, to: 6 },
  low: { from: 7, to: 10 },
} as const satisfies Record<PriorityWord, { from: number; to: number }>;

export function priorityWord(priority: number): PriorityWord {
  return PRIORITY_WORDS.find((word) => priority <= PRIORITY_RANGES[word].to) ?? 'low';
}

/** The type of a task whose creator names none. */
export const USUAL_TYPE = 'coordination';

/** The type of the tasks that runners do. */
export const CODING_TYPE = 'coding';

/** Only the tasks of a type, or of those who are somebody's, are asked for. */
export interface QueuePart {
  readonly type?: string | undefined;
  /** Whose agents, or who, created them: of coding tasks. */
  readonly owner?: string | undefined;
}

export function taskType({ coding, type = USUAL_TYPE }: Pick<Task, 'coding' | 'type'>): string {
  return coding === undefined ? type : CODING_TYPE;
}

/** The order of the queue: priority, then deadline, what has none last, then creation, then id. */
export function compareInQueue(one: Task, other: Task): number {
  return (
    one.priority - other.priority ||
    // Where neither has one this is not a number, and the next decides.
    Number(one.deadline ?? Infinity) - Number(other.deadline ?? Infinity) ||
    one.createdAt.getTime() - other.createdAt.getTime() ||
    (one.id < other.id ? -1 : Number(one.id > other.id))
  );
}

/** The most capabilities that one task may require. */
export const MAX_REQUIRED_CAPABILITIES = 10;

/** The longest key. Firestore queries no text above 1500 bytes, and one key too long would fail every claim. */
export const MAX_CAPABILITY_KEY_BYTES = 1200;

/** The most different sets of required capabilities in one session. */
export const MAX_CAPABILITY_KEYS = 150;

const SEPARATOR = '|';

/**
 * The key of a set of capabilities; the empty set's is the empty text. Case does not count. Agents are matched to tasks
 * without reading tasks: a session keeps the keys of the few different sets that its tasks require, and a claim asks
 * only for those that its agent satisfies.
 */
export function capabilityKey(required: readonly string[]): string {
  return [...new Set(required.map(foldedCapability))].sort().join(SEPARATOR);
}

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

/** The task with more that was spent on it. */
export function withSpent(task: Task, more: Partial<Spent>): Task {
  const { inputTokens, outputTokens, costUsd, milliseconds } = task.spent ?? NO_WORK;
  const spent = {
    inputTokens: inputTokens + (more.inputTokens ?? 0),
    outputTokens: outputTokens + (more.outputTokens ?? 0),
    costUsd: exactUsd(costUsd + (more.costUsd ?? 0)),
    milliseconds: milliseconds + (more.milliseconds ?? 0),
  };
  return { ...task, spent };
}

/** The task with the time that its holder has worked on it, where it has just lost or left it. */
export function timed(before: Task, after: Task, now: Date): Task {
  const { claim } = before;
  if (claim === undefined || !isHeld(before.status) || (isHeld(after.status) && after.claim)) return after;
  return withSpent(after, { milliseconds: Math.max(0, now.getTime() - claim.claimedAt.getTime()) });
}

/** A task's change of state, counted. */
export function taskChanges(before: Task, task: Task, version: string, now: Date): Change[] {
  return [
    { kind: 'replaceTask', before, task: timed(before, task, now), version },
    countedChange(before, task, now),
  ];
}

/** What a task adds to the record of who closed it. */
function closedWork(before: Task, { status, claim, closedAt, partsAwaited }: Task): { closed?: ClosedWork } {
  // Whose work is done, whatever becomes of the rest.
  if (status === 'waiting' && partsAwaited !== undefined && before.claim !== undefined) {
    const worked = partsAwaited.since.getTime() - before.claim.claimedAt.getTime();
    return { closed: { status: 'done', at: partsAwaited.since, milliseconds: worked } };
  }
  if ((status !== 'done' && status !== 'failed') || claim === undefined || closedAt === undefined) return {};
  const milliseconds = closedAt.getTime() - claim.claimedAt.getTime();
  return { closed: { status, at: closedAt, milliseconds } };
}

/** Everything that an outcome brings about: the task, its holder, its dependents, the queue. */
export function outcomeChanges(
  before: Task,
  { kind, task }: TaskOutcome,
  version: string,
  now: Date,
): Change[] {
  if (kind === 'late') return [{ kind: 'replaceTask', task, before, version }];
  const changes = taskChanges(before, task, version, now);
  const holder = before.claim?.agentId ?? task.claim?.agentId;
  if (holder !== undefined) {
    const wasHeld = isHeld(before.status);
    changes.push({
      kind: 'dropTask',
      agentId: holder,
      taskId: task.id,
      wasHeld,
      ...closedWork(before, task),
    });
  }
  if (!isClosed(task.status)) return changes;
  for (const taskId of task.dependents) {
    changes.push(
      task.status === 'done'
        ? { kind: 'dependencyDone', taskId }
        : { kind: 'dependencyFailed', taskId, dependencyId: task.id },
    );
  }
  return changes;
}

/** What commits may change of tasks. */
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
  /** The dependency is to be tried again. */
  readonly dependencyRevived: { readonly taskId: string; readonly dependencyId: string };
  /** The dependency can never start itself, because of the task `by`; without it, it can again. */
  readonly dependencyStuck: { readonly taskId: string; readonly dependencyId: string; readonly by?: string };
  readonly addDependents: {
    readonly taskId: string;
    readonly dependents: readonly string[];
    readonly version: string;
  };
  /** The task no longer waits for this one. */
  readonly removeDependent: { readonly taskId: string; readonly dependentId: string };
  /** A check of the pull request of a task failed. An entry of the same id is written again. `details` is others' data. */
  readonly logFailedCheck: {
    readonly task: Pick<Task, 'id' | 'workspace'>;
    readonly entry: Pick<NonNullable<Task['failedCheck']>, 'at' | 'repository' | 'pullRequest'> & {
      readonly id: string;
      readonly details: JsonObject;
    };
  };
  /** Marks the task: this check of its pull request is the one that failed last. */
  readonly checkFailed: { readonly taskId: string; readonly check: NonNullable<Task['failedCheck']> };
  /** The check that failed last has passed. */
  readonly checkPassed: { readonly taskId: string; readonly version: string };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends TaskChanges {}
}

/**
 * Moves a task from the counter of its former state, if it had one, to that of its new one. Its first claim
 * also adds its wait to those of the session.
 */
export function countedChange(before: Task | undefined, after: Task, at: Date): Change {
  const moved = { ...(before && { [before.status]: -1 }), [after.status]: 1 };
  const isFirstClaim = after.status === 'claimed' && before?.epoch === 0 && after.epoch === 1;
  return {
    kind: 'count',
    workspace: after.workspace,
    session: after.session,
    by: before?.status === after.status ? {} : moved,
    at,
    ...(isFirstClaim && { waited: Math.max(0, at.getTime() - after.createdAt.getTime()) }),
  };
}
