/** What is particular about claiming a coding task. */
import type { Session } from '../coordination/session.ts';
import { MusterError } from '../errors.ts';
import type { Versioned } from '../store.ts';
import { foldedCapability } from '../tasks/capabilities.ts';
import { isClosed, type Task } from '../tasks/task.ts';
import { isCodingTask, requireCodingTask } from './task.ts';

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

/** All that a runner can do: what it says, or else what its agent has declared; and the repository that it has. */
export function capabilitiesOf(runner: RunnerClaim, declared: readonly string[]): readonly string[] {
  const { capabilities = declared, project } = runner;
  return project === undefined ? capabilities : [...capabilities, projectCapability(project)];
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
  if (lacking.length > 0)
    throw notClaimable(
      taskId,
      `it needs ${lacking.join(', ')}`,
      'Claim it for its tool, and for its project where it has one.',
    );
  return task.status === 'available' && task.blockers === 0 ? named : undefined;
}

export function notClaimable(taskId: string, why: string, suggestion: string): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" cannot be claimed: ${why}.`, {
    field: 'taskId',
    reason: 'NOT_CLAIMABLE',
    suggestion,
  });
}
