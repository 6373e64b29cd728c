/** Task actions: cancel, release and retry, each in one optimistic commit. Source: docs/semantics.md#task-actions. */

import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readIn, Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { requeuedWork, withFailure } from './codingTask.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { cancelTask, notPossible, takeAway } from './stateMachine.ts';
import { isHeld, isOfRun, type Task, type TaskStatus, taskNotFound } from './task.ts';
import { outcomeChanges, taskChanges, withSpent } from './taskChanges.ts';

/** Maximum number of dependents that one call retries, and of tasks that it reads to find them. */
const MAX_REVIVED = 100;
const MAX_DEPENDENTS_READ = 500;

interface Decision {
  readonly taskId: string;
  readonly reason?: string | undefined;
}

export interface Revived {
  readonly task: Task;
  readonly dependents: readonly string[];
  /** Whether more dependents remain. */
  readonly isCut: boolean;
}

export class TaskLevers extends Service<CoordinationPorts> {
  /** Cancels an open task, even if held. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if it is closed */
  cancel(principal: Principal, decision: Decision, recordAnswer: RecordAnswer<Task>): Promise<Task> {
    return decide(this.ports, principal, decision.taskId, async ({ value: before, version }, now) => {
      const message = said('Cancelled', principal, decision.reason);
      const task = withFailure(cancelTask(before, message, now), { class: 'cancelled', message });
      const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
      await this.ports.store.commit(changes, recordAnswer(task));
      return task;
    });
  }

  /** Releases a task for other agents. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if it is not held */
  release(principal: Principal, decision: Decision, recordAnswer: RecordAnswer<Task>): Promise<Task> {
    return decide(this.ports, principal, decision.taskId, async ({ value: before, version }, now) => {
      const message = said('Released', principal, decision.reason);
      const released = takeAway(before);
      const task = requeuedWork(before, released, { class: 'cancelled', message }, now);
      const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
      const grown = await queueGrowth(this.ports.sessions, task);
      await this.ports.store.commit([...changes, ...grown], recordAnswer(task));
      return task;
    });
  }

  /** Retries a task, and optionally its dependents. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT by status */
  retry(
    principal: Principal,
    { taskId, withDependents }: { readonly taskId: string; readonly withDependents: boolean },
    recordAnswer: RecordAnswer<Revived>,
  ): Promise<Revived> {
    return decide(this.ports, principal, taskId, async (found, now) => {
      if (isOfRun(found.value)) throw runHasEnded(taskId);
      const task = revived(found.value, now);
      const { items, isCut } = withDependents
        ? await this.endedDependents(found.value)
        : { items: [], isCut: false };
      const ended = [found, ...items];
      const changes = [
        ...ended.flatMap(({ value, version }) => taskChanges(value, revived(value, now), version, now)),
        ...ended.flatMap(({ value }) => dependencyChanges(value)),
      ];
      const others = items.map(({ value }) => value);
      const grown = await queueGrowth(this.ports.sessions, task, ...others);
      if (grown.length === 0) throw sessionArchived(taskId);
      const outcome = { task, dependents: items.map(({ value }) => value.id), isCut };
      await this.ports.store.commit([...changes, ...grown], recordAnswer(outcome));
      return outcome;
    });
  }

  /** Returns the direct and indirect dependents that failed or were cancelled, nearest first. */
  private async endedDependents(task: Task): Promise<{ items: Versioned<Task>[]; isCut: boolean }> {
    const seen = new Set([task.id]);
    const items: Versioned<Task>[] = [];
    let next: readonly string[] = task.dependents;
    while (next.length > 0) {
      const ids = [...new Set(next)].filter((id) => !seen.has(id));
      if (seen.size + ids.length > MAX_DEPENDENTS_READ) return { items, isCut: true };
      for (const id of ids) seen.add(id);
      const found = (await this.ports.tasks.findAll(ids)).flatMap((one) => one ?? []);
      const ended = found.filter(({ value }) => value.status === 'failed' || value.status === 'cancelled');
      items.push(...ended.slice(0, MAX_REVIVED - items.length));
      if (items.length === MAX_REVIVED) return { items, isCut: true };
      next = found.flatMap(({ value }) => (value.status === 'done' ? [] : value.dependents));
    }
    return { items, isCut: false };
  }
}

/** Changes a task that the caller may manage, and retries on conflict. @throws MusterError NOT_FOUND; FORBIDDEN */
export function decide<Result>(
  { tasks, randomness, clock }: CoordinationPorts,
  principal: Principal,
  taskId: string,
  attempt: (found: Versioned<Task>, now: Date) => Promise<Result>,
): Promise<Result> {
  const isIn = (workspace: string) => roleIn(principal, workspace) !== undefined;
  return retryStale(randomness, async () => {
    const found = await readIn(isIn, tasks.find(taskId));
    if (found === undefined || !isIn(found.value.workspace)) throw taskNotFound(taskId);
    authoriseDeciding(principal, found.value, 'task_id');
    return attempt(found, clock.now());
  });
}

/** Returns a stored reason, such as `Cancelled by lead: no longer wanted`. */
export function said(what: string, { agent_id, uid }: Principal, reason: string | undefined): string {
  return `${what} by ${agent_id ?? uid}${reason === undefined ? '.' : `: ${reason}`}`;
}

/** Returns the requeued task, as retry_task stores it. */
export function revived(before: Task, now: Date): Task {
  const kind = before.status === 'cancelled' ? 'cancelled' : 'crashed';
  const failure = before.coding?.failure ?? { class: kind, message: before.error ?? 'It failed.' };
  return requeuedWork(before, reviveTask(before), failure, now);
}

/** Returns the changes of a retried task's dependents: it blocks them as an open task. */
export function dependencyChanges({ id, dependents }: Task): CoordinationChange[] {
  return dependents.map((taskId) => ({ kind: 'dependencyRevived', taskId, dependencyId: id }));
}

export function runHasEnded(taskId: string): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" belongs to a run that has ended.`, {
    field: 'task_id',
    reason: 'RUN_ENDED',
    suggestion: 'Start the workflow again with orchestration.orchestrate_workflow.',
  });
}

export function sessionArchived(taskId: string, verb = 'be retried'): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" cannot ${verb}: its session is archived.`, {
    field: 'task_id',
    reason: 'SESSION_ARCHIVED',
    suggestion: 'Restore the session with coordination.reopen first.',
  });
}

type Decided = Pick<Task, 'id' | 'workspace' | 'owner_uid'>;

/** Checks that a caller may manage a task: same owner as its creator, or leader. @throws MusterError FORBIDDEN */
export function authoriseDeciding(
  principal: Principal,
  task: Decided,
  field: 'task_id' | 'taskId' | 'id',
): void {
  const role = roleIn(principal, task.workspace) ?? 'viewer';
  if (hasRole(role, 'leader') || (hasRole(role, 'worker') && task.owner_uid === principal.owner_uid)) return;
  throw new MusterError('FORBIDDEN', `You cannot change task "${task.id}".`, {
    field,
    reason: 'NOT_YOURS',
    suggestion: 'Ask its creator, another agent of the same owner, or a leader of the workspace.',
  });
}

// Retries of ended tasks. Source: docs/semantics.md#coordination.

const MAX_FORMER_ENDS = 10;

/**
 * Requeues a failed or cancelled task and keeps its outcome in `former_ends`. Reports of its last holder are
 * rejected, the claim epoch continues, and the retry count restarts.
 */
export function reviveTask(task: Task): Task {
  const { status, claim, completed_at: closedAt, parts_awaited: _waited, result: _kept, ...rest } = task;
  if ((status !== 'failed' && status !== 'cancelled') || closedAt === undefined)
    throw notPossible(task, 'be retried', undefined, suggestionToRevive(status));
  const { error, claim_epoch: epoch, retries } = task;
  const end = {
    status,
    ended_at: closedAt,
    claim_epoch: epoch,
    retries,
    ...(error !== undefined && { error }),
    ...(claim && { agent_id: claim.claimed_by }),
  };
  return {
    ...rest,
    status: 'available',
    retries: 0,
    former_ends: [...task.former_ends, end].slice(-MAX_FORMER_ENDS),
    lapsed_claims: task.lapsed_claims.filter((lapsed) => lapsed.claim_epoch !== epoch),
  };
}

/**
 * Reopens a completed task: held by its last holder with a renewed lease, or in the queue. The time worked is
 * subtracted, because it is counted again when the claim ends.
 * @param former the task before its completion
 */
export function reopenTask(task: Task, former: Task, isHolderThere: boolean, now: Date): Task {
  if (task.status !== 'done') throw notPossible(task, 'be reopened');
  const { claim, ...rest } = former;
  if (!isHolderThere || claim === undefined || !isHeld(former.status))
    return { ...rest, status: 'available' };
  const leaseExpiresAt = new Date(now.getTime() + claim.lease_seconds * 1000);
  const worked = Number(task.completed_at) - claim.claimed_at.getTime();
  return withSpent(
    { ...former, claim: { ...claim, lease_expires_at: leaseExpiresAt } },
    { milliseconds: -worked },
  );
}

/** Undoes a retry: restores the previous end of the task. */
export function endAgain(task: Task, former: Task): Task {
  if (task.status !== 'available') throw notPossible(task, 'be ended again');
  return { ...former, former_ends: task.former_ends.slice(0, -1) };
}

function suggestionToRevive(status: TaskStatus): string {
  if (status === 'done')
    return 'Completed tasks cannot be retried. Create another task with coordination.create_task.';
  return status === 'available'
    ? 'No retry is needed: the task is in the queue.'
    : 'Release the task with coordination.release_task, or cancel it first with coordination.cancel_task.';
}
