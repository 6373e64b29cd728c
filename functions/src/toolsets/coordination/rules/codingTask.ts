/** What makes a task a coding task: part of `tasks/{taskId}`. Source: the coding specification; docs/semantics.md#coding. */
import { type Agent, foldedCapability } from '../../../agents/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Session } from './session.ts';
import {
  CODING_TOOLS,
  CODING_TYPE,
  type CodingTool,
  type FailureClass,
  isClosed,
  PROGRAMS,
  type QueuePart,
  type Task,
} from './task.ts';

export type CodingWork = NonNullable<Task['coding']>;

/** An attempt that is over, but for the one that closed the task. */
export type PastAttempt = CodingWork['attempts'][number];

/** Where the result of an attempt is kept: the bytes of its JSON, and in how many parts. */
export type StoredResult = NonNullable<CodingWork['result']>;

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

/** A coding task that somebody has ended. Any other task stays as it is. */
export function withFailure(task: Task, failure: NonNullable<Failure>): Task {
  return task.coding === undefined ? task : { ...task, coding: { ...task.coding, failure } };
}

/** How many attempts a task remembers. */
export const MAX_ATTEMPTS_KEPT = 20;

/** A coding task queued anew, its attempt among the past; any other as it is. @param before as it was held or closed */
export function requeuedWork(before: Task, task: Task, failure: NonNullable<Failure>, now: Date): Task {
  if (task.coding === undefined) return task;
  const { result: _former, ...coding } = task.coding;
  const past = before.claim && {
    claim_epoch: before.claim.claim_epoch,
    agent_id: before.claim.claimed_by,
    ended_at: before.completed_at ?? now,
    failure,
    commits: [],
  };
  const attempts = [...coding.attempts, ...(past ? [past] : [])].slice(-MAX_ATTEMPTS_KEPT);
  const queueEndsAt = new Date(now.getTime() + coding.queue_seconds * 1000);
  return { ...task, coding: { ...coding, failure, attempts, queue_ends_at: queueEndsAt } };
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
  readonly project?: string | undefined;
  readonly taskId?: string | undefined;
}

/** The capability that a task of a project requires beside its tool. */
export function projectCapability(project: string): string {
  return `project:${project}`;
}

const CODING_KEY = new RegExp(`^(${Object.values(PROGRAMS).join('|')})(\\|project:[^|]*)?$`);

/** Whether a set of capabilities is a coding task's: its tool, and its project if it has one. */
export function isCodingKey(key: string): boolean {
  return CODING_KEY.test(key);
}

/** What a runner takes: what its owner asks for, unless it serves its whole workspace. */
export function runnersPart({ serves, owner_uid }: Agent): QueuePart {
  return { type: CODING_TYPE, ...(serves !== 'workspace' && { owner: owner_uid }) };
}

/** The task that a runner names; undefined where it may be later. @throws MusterError NOT_FOUND; CONFLICT if waiting is pointless */
export function claimableNow(
  found: Versioned<Task> | undefined,
  taskId: string,
  session: Session,
  { capabilities, agent }: { readonly capabilities: readonly string[]; readonly agent: Agent },
): Versioned<Task> | undefined {
  const named = requireCodingTask(found, taskId, session.workspace);
  const task = named.value;
  if (isClosed(task.status)) throw notClaimable(taskId, `it is ${task.status}`, 'Create another task.');
  if (task.session !== session.id)
    throw notClaimable(taskId, 'its session was archived', 'Create another task.');
  const { owner = task.coding.owner_uid } = runnersPart(agent);
  if (task.coding.owner_uid !== owner) {
    const suggestion = 'Start the runner with --for workspace, if it is to do what others ask for.';
    throw notClaimable(taskId, 'somebody else asks for it, and the runner serves its owner', suggestion);
  }
  const has = new Set(capabilities.map(foldedCapability));
  const lacking = task.required_capabilities.filter((name) => !has.has(foldedCapability(name)));
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
