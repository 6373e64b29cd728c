/** What makes a task a coding task: part of `tasks/{taskId}`. Source: spec/coding.md; docs/semantics.md#coding. */
import { type Agent, countedAgent, foldedCapability, holding } from '../../../access/rules/agent.ts';
import type { Change, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Session } from './session.ts';
import { isClosed, type Task, taskChanges } from './task.ts';

export type CodingWork = NonNullable<Task['coding']>;

/** An attempt that is over, but for the one that closed the task. */
export type PastAttempt = CodingWork['attempts'][number];

export type Commit = PastAttempt['commits'][number];

/** Where the result of an attempt is kept: the bytes of its JSON, and in how many parts. */
export type StoredResult = NonNullable<CodingWork['result']>;

/** By the specification's name: the program, which is also the capability that a runner declares. */
const PROGRAMS = { CLAUDECODE: 'claude', GEMINI: 'gemini' } as const;

export type CodingTool = keyof typeof PROGRAMS;

export const CODING_TOOLS: readonly CodingTool[] = ['CLAUDECODE', 'GEMINI'];

export function programOf(tool: CodingTool): string {
  return PROGRAMS[tool];
}

/** @throws MusterError VALIDATION_ERROR that lists the known ones */
export function codingTool(name: string, field: string): CodingTool {
  const known = CODING_TOOLS.find((tool) => tool === name);
  if (known !== undefined) return known;
  throw new MusterError('VALIDATION_ERROR', 'There is no coding tool of this name.', {
    field,
    value: name,
    reason: 'UNKNOWN_TOOL',
    suggestion: `Known tools: ${CODING_TOOLS.join(', ')}.`,
  });
}

/** Why a coding task failed. */
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

export type Failure = PastAttempt['failure'];

/** How often a task is worked on at most. */
export const MAX_ATTEMPTS = 3;

const RETRYABLE: readonly FailureClass[] = ['runner_lost', 'rate_limit', 'no_output', 'crashed'];

export function isRetryable(failure: FailureClass): boolean {
  return RETRYABLE.includes(failure);
}

/** The wait before the next attempt, in seconds. Only a rate limit passes with time. */
export function backoffSeconds(failure: FailureClass, attempt: number): number {
  return failure === 'rate_limit' ? 30 * 2 ** (attempt - 1) : 0;
}

export type CodingTask = Task & { readonly coding: CodingWork };

export function isCodingTask(task: Task): task is CodingTask {
  return task.coding !== undefined;
}

/** A coding task as the task's own machine has left it. */
export function asCodingTask(task: Task): CodingTask {
  if (isCodingTask(task)) return task;
  throw new Error(`Task ${task.id} has stopped being a coding task.`);
}

/** @throws MusterError NOT_FOUND unless it is a coding task of the workspace */
export function requireCodingTask(
  found: Versioned<Task> | undefined,
  taskId: string,
  workspace: string,
): Versioned<CodingTask> {
  const task = found?.value;
  if (found === undefined || task?.workspace !== workspace || !isCodingTask(task)) {
    throw new MusterError('NOT_FOUND', `There is no coding task "${taskId}" here.`, {
      field: 'taskId',
      value: taskId,
      suggestion: 'The resource task://list lists the coding tasks of this workspace.',
    });
  }
  return { value: task, version: found.version };
}

export interface RunnerClaim {
  /** What the runner can do, where it is not all that its agent has declared. */
  readonly capabilities?: readonly string[] | undefined;
  /** The repository that it has. */
  readonly project?: string | undefined;
  /** The only task that it wants. */
  readonly taskId?: string | undefined;
}

/** The capability that a task of a project requires beside its tool. */
export function projectCapability(project: string): string {
  return `project:${project}`;
}

/** A task just claimed, by a runner or by an agent that works the queue. */
export function codingClaimed(task: Task, runner: RunnerClaim | undefined): Task {
  const { claim } = task;
  if (claim === undefined || !isCodingTask(task)) return task;
  const { failure: _overcome, progress: _past, ...coding } = task.coding;
  return {
    ...task,
    claim: runner === undefined ? claim : { ...claim, isRunners: true },
    coding: { ...(runner?.project !== undefined && { project: runner.project }), ...coding },
  };
}

/** What changes when an agent takes a task on: the task, and the agent as its holder. */
export function claimChanges(
  { value: before, version }: Versioned<Task>,
  task: Task,
  agent: Versioned<Agent>,
  now: Date,
): Change[] {
  const holder = holding(agent.value, task.id, { session: task.session, epoch: task.epoch }, now);
  return [
    ...taskChanges(before, task, version, now),
    { kind: 'holdTask', agent: holder, taskId: task.id, version: agent.version },
    ...countedAgent(agent.value, holder),
  ];
}

/**
 * The task that a runner names, where it can be claimed now; undefined where it may be later.
 * @throws MusterError NOT_FOUND, or CONFLICT where waiting for it is pointless
 */
export function claimableNow(
  found: Versioned<Task> | undefined,
  taskId: string,
  session: Session,
  capabilities: readonly string[],
): Versioned<Task> | undefined {
  const named = requireCodingTask(found, taskId, session.workspace);
  const task = named.value;
  if (isClosed(task.status)) throw notClaimable(taskId, `it is ${task.status}`, 'Create another task.');
  if (task.session !== session.id)
    throw notClaimable(taskId, 'its session was archived', 'Create another task.');
  const has = new Set(capabilities.map(foldedCapability));
  const lacking = task.requiredCapabilities.filter((name) => !has.has(foldedCapability(name)));
  if (lacking.length > 0) {
    const suggestion = 'Claim it for its tool, and for its project where it has one.';
    throw notClaimable(taskId, `it needs ${lacking.join(', ')}`, suggestion);
  }
  return task.status === 'available' && task.blockers === 0 ? named : undefined;
}

export function notClaimable(taskId: string, why: string, suggestion: string): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" cannot be claimed: ${why}.`, {
    field: 'taskId',
    reason: 'NOT_CLAIMABLE',
    suggestion,
  });
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
  const satisfied = keys.filter((key) => key !== '' && key.split(SEPARATOR).every((name) => has.has(name)));
  return ['', ...satisfied.sort()];
}
