/** Coding fields of a task document, `tasks/{taskId}`. Source: the coding specification; docs/semantics.md#coding. */
import { type Agent, foldedCapability } from '../../../agents/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { MusterError, notFound } from '../../../kernel/errors.ts';
import type { Session } from './session.ts';
import { CODING_TYPE, type FailureClass, isClosed, PROGRAMS, type QueuePart, type Task } from './task.ts';

export type CodingWork = NonNullable<Task['coding']>;

/** Ended attempt of a coding task. The attempt that closed the task is not among them. */
export type PastAttempt = CodingWork['attempts'][number];

/** Stored result of a coding task: claim epoch, length of its JSON in bytes, and number of parts. */
export type StoredResult = NonNullable<CodingWork['result']>;

/** Category of the capabilities that runners declare. */
export const CODING_AGENT = 'coding agent';

/** Name of a program that runs coding tasks; the name of its tool in lower case, unless Muster knows the program. */
export const PROGRAM_NAME = /^[a-z][a-z0-9_]{1,31}$/;

/** Precedes the names of programs that Muster does not know, so that they differ from ordinary capabilities. */
export const OTHER_PROGRAM = 'agent:';

export function programOf(tool: string): string {
  return PROGRAMS.get(tool) ?? tool.toLowerCase();
}

/** Returns the capability with which an agent declares that it can run the program. */
export function programCapability(program: string): string {
  return [...PROGRAMS.values()].includes(program) ? program : OTHER_PROGRAM + program;
}

/** Returns the capability that tasks for the tool require. A tool named as a known program is not that program. */
export function toolCapability(tool: string): string {
  return PROGRAMS.get(tool) ?? OTHER_PROGRAM + tool.toLowerCase();
}

export type Failure = PastAttempt['failure'];

export const MAX_CODING_ATTEMPTS = 3;
const RETRYABLE: readonly FailureClass[] = ['runner_lost', 'rate_limit', 'no_output', 'crashed'];

export function isRetryable(failure: FailureClass): boolean {
  return RETRYABLE.includes(failure);
}

/** Returns the delay before the next attempt, in seconds: 0 unless the attempt failed because of a rate limit. */
export function backoffSeconds(failure: FailureClass, attempt: number): number {
  return failure === 'rate_limit' ? 30 * 2 ** (attempt - 1) : 0;
}

/** Returns a coding task with the failure stored in it. Any other task is returned unchanged. */
export function withFailure(task: Task, failure: NonNullable<Failure>): Task {
  return task.coding === undefined ? task : { ...task, coding: { ...task.coding, failure } };
}

export const MAX_STORED_ATTEMPTS = 20;

/** Adds the ended attempt to a requeued coding task; other tasks stay unchanged. @param before the old task */
export function requeuedCoding(before: Task, task: Task, failure: NonNullable<Failure>, now: Date): Task {
  if (task.coding === undefined) return task;
  const { result: _former, ...coding } = task.coding;
  const past = before.claim && {
    claim_epoch: before.claim.claim_epoch,
    agent_id: before.claim.claimed_by,
    ended_at: before.completed_at ?? now,
    failure,
    commits: [],
  };
  const attempts = [...coding.attempts, ...(past ? [past] : [])].slice(-MAX_STORED_ATTEMPTS);
  const queueEndsAt = new Date(now.getTime() + coding.queue_seconds * 1000);
  return { ...task, coding: { ...coding, failure, attempts, queue_ends_at: queueEndsAt } };
}

export type CodingTask = Task & { readonly coding: CodingWork };

export function isCodingTask(task: Task): task is CodingTask {
  return task.coding !== undefined;
}

/** Returns the task as a coding task. @throws Error if it is another kind of task, which is a defect */
export function asCodingTask(task: Task): CodingTask {
  if (isCodingTask(task)) return task;
  throw new Error(`Task ${task.id} is not a coding task.`);
}

/** Returns the task. @throws MusterError NOT_FOUND unless it is a coding task of the workspace */
export function requireCodingTask(
  found: Versioned<Task> | undefined,
  taskId: string,
  workspace: string,
): Versioned<CodingTask> {
  const task = found?.value;
  const suggestion = 'The resource task://list lists the coding tasks of this workspace.';
  if (found === undefined || task?.workspace !== workspace || !isCodingTask(task))
    throw notFound('Coding task', { taskId }, suggestion, ' in this workspace');
  return { value: task, version: found.version };
}

export interface RunnerClaim {
  /** Capabilities to claim tasks for. By default, these are the capabilities that the agent registered. */
  readonly capabilities?: readonly string[] | undefined;
  readonly project?: string | undefined;
  readonly taskId?: string | undefined;
}

/** Returns the capability that a coding task of a project requires in addition to the capability of its tool. */
export function projectCapability(project: string): string {
  return `project:${project}`;
}

/** Returns the filter for a runner's claims: tasks of its owner, unless the runner serves the whole workspace. */
export function runnerMembership({ serves, owner_uid }: Pick<Agent, 'serves' | 'owner_uid'>): QueuePart {
  return { type: CODING_TYPE, ...(serves !== 'workspace' && { owner: owner_uid }) };
}

/** Returns the task if it can be claimed now. @throws MusterError NOT_FOUND; CONFLICT if it can never be claimed */
export function claimableNow(
  found: Versioned<Task> | undefined,
  taskId: string,
  session: Session,
  { capabilities, agent }: { readonly capabilities: readonly string[]; readonly agent: Agent },
): Versioned<Task> | undefined {
  const named = requireCodingTask(found, taskId, session.workspace);
  const task = named.value;
  if (isClosed(task.status)) throw notClaimable(taskId, `it is ${task.status}`, 'Create another task.');
  if (task.session !== session.id) throw notClaimable(taskId, 'its session is archived', 'Create another task.');
  const { owner = task.coding.owner_uid } = runnerMembership(agent);
  if (task.coding.owner_uid !== owner) {
    const suggestion = 'To run tasks of other owners, start the runner with --for workspace.';
    throw notClaimable(taskId, 'its owner is not the owner of the runner', suggestion);
  }
  const has = new Set(capabilities.map(foldedCapability));
  const lacking = task.required_capabilities.filter((name) => !has.has(foldedCapability(name)));
  if (lacking.length > 0) {
    const suggestion = 'The claim must include the coding tool of the task, and the project if the task has one.';
    throw notClaimable(taskId, `it requires ${lacking.join(', ')}`, suggestion);
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
