/**
 * What whoever decides about a task does to it: cancel, have tried again, take from its holder, change. Each is one
 * optimistic commit of the task, its holder, its dependents and the session's counters.
 * Source: docs/semantics.md#levers.
 */

import { type Principal, roleIn } from '../../../access/rules/principal.ts';
import { hasRole } from '../../../access/rules/role.ts';
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

/** How many tasks one call has tried again, and how many it reads to find them. */
const MAX_REVIVED = 100;
const MAX_DEPENDENTS_READ = 500;

interface Decision {
  readonly taskId: string;
  readonly reason?: string | undefined;
}

export interface Revived {
  readonly task: Task;
  /** The ids of the dependents that are tried again with it. */
  readonly dependents: readonly string[];
  /** Whether there were more than one call takes. */
  readonly isCut: boolean;
}

export class TaskLevers extends Service<CoordinationPorts> {
  /**
   * Cancels an open task for whoever holds it.
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where it is closed
   */
  cancel(principal: Principal, decision: Decision, recordAnswer: RecordAnswer<Task>): Promise<Task> {
    return decide(this.ports, principal, decision.taskId, async ({ value: before, version }, now) => {
      const message = said('Cancelled', principal, decision.reason);
      const task = withFailure(cancelTask(before, message, now), { class: 'cancelled', message });
      const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
      await this.ports.store.commit(changes, recordAnswer(task));
      return task;
    });
  }

  /**
   * Takes a task from its holder: it can be claimed at once.
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where nobody holds it
   */
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

  /**
   * Puts a task into the queue again that failed or was cancelled, and on demand those that depend on it and ended so.
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT where it is open or done, or its session was archived
   */
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

  /** Those that failed or were cancelled among all that depend on the task, nearest first. */
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

/**
 * Reads a task that the caller may decide about, and changes it, again for as long as somebody else changes it meanwhile.
 * @throws MusterError NOT_FOUND to whoever is not in the task's workspace; FORBIDDEN
 */
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

/** Who has done what, and why: `Cancelled by lead: no longer wanted`. */
export function said(what: string, { agentId, uid }: Principal, reason: string | undefined): string {
  return `${what} by ${agentId ?? uid}${reason === undefined ? '.' : `: ${reason}`}`;
}

/** The task in the queue again, as retry_task leaves it. */
export function revived(before: Task, now: Date): Task {
  const kind = before.status === 'cancelled' ? 'cancelled' : 'crashed';
  const failure = before.coding?.failure ?? { class: kind, message: before.error ?? 'It failed.' };
  return requeuedWork(before, reviveTask(before), failure, now);
}

/** It stands in the way of those that wait for it no longer than any open task. */
export function dependencyChanges({ id, dependents }: Task): CoordinationChange[] {
  return dependents.map((taskId) => ({ kind: 'dependencyRevived', taskId, dependencyId: id }));
}

export function runHasEnded(taskId: string): MusterError {
  return new MusterError(
    'CONFLICT',
    `Task "${taskId}" belongs to a run, which does not wait for it any more.`,
    {
      field: 'task_id',
      reason: 'RUN_ENDED',
      suggestion:
        'Start the workflow again: orchestration.orchestrate_workflow makes another run, with tasks of its own.',
    },
  );
}

export function sessionArchived(taskId: string, verb = 'be tried again'): MusterError {
  return new MusterError('CONFLICT', `Task "${taskId}" cannot ${verb}: its session was archived.`, {
    field: 'task_id',
    reason: 'SESSION_ARCHIVED',
    suggestion: 'Bring the session back with reopen first.',
  });
}

/** A task, as far as it says who may decide about it. */
type Decided = Pick<Task, 'id' | 'workspace' | 'ownerUid'>;

/**
 * Lets the creator, whoever has the same owner, and leaders decide about a task. Source: docs/semantics.md#coordination.
 * @param field the argument that names the task
 * @throws MusterError FORBIDDEN
 */
export function authoriseDeciding(
  principal: Principal,
  task: Decided,
  field: 'task_id' | 'taskId' | 'id',
): void {
  const role = roleIn(principal, task.workspace) ?? 'viewer';
  if (hasRole(role, 'leader') || (hasRole(role, 'worker') && task.ownerUid === principal.ownerUid)) return;
  throw new MusterError('FORBIDDEN', `You may not change task "${task.id}".`, {
    field,
    reason: 'NOT_YOURS',
    suggestion: 'Its holder may, whoever created it or has the same owner, and leaders of the workspace.',
  });
}

// Tasks that are tried again after they had ended. Source: docs/semantics.md#coordination.

/** How many former ends a task remembers. */
const MAX_FORMER_ENDS = 10;

/**
 * Puts a task into the queue again that failed or was cancelled. How it ended stays with it. Its former holders are heard
 * no more; its epoch goes on, and its tries begin anew.
 */
export function reviveTask(task: Task): Task {
  const { status, claim, closedAt, partsAwaited: _waited, result: _kept, ...rest } = task;
  if ((status !== 'failed' && status !== 'cancelled') || closedAt === undefined)
    throw notPossible(task, 'be tried again', undefined, suggestionToRevive(status));
  const { error, epoch, retries } = task;
  const end = {
    status,
    endedAt: closedAt,
    epoch,
    retries,
    ...(error !== undefined && { error }),
    ...(claim && { agentId: claim.agentId }),
  };
  return {
    ...rest,
    status: 'available',
    retries: 0,
    formerEnds: [...task.formerEnds, end].slice(-MAX_FORMER_ENDS),
    lapsedClaims: task.lapsedClaims.filter((lapsed) => lapsed.epoch !== epoch),
  };
}

/**
 * Opens a task again whose result is taken back: in the hands of who held it, with a lease that begins anew, or in the
 * queue. The time of that claim counts when it ends.
 * @param former as it was before its result came
 */
export function reopenTask(task: Task, former: Task, isHolderThere: boolean, now: Date): Task {
  if (task.status !== 'done') throw notPossible(task, 'be opened again');
  const { claim, ...rest } = former;
  if (!isHolderThere || claim === undefined || !isHeld(former.status))
    return { ...rest, status: 'available' };
  const leaseExpiresAt = new Date(now.getTime() + claim.leaseSeconds * 1000);
  const worked = Number(task.closedAt) - claim.claimedAt.getTime();
  return withSpent({ ...former, claim: { ...claim, leaseExpiresAt } }, { milliseconds: -worked });
}

/** Ends a task again that had ended before it was tried again, which is taken back. */
export function endAgain(task: Task, former: Task): Task {
  if (task.status !== 'available') throw notPossible(task, 'be ended again');
  return { ...former, formerEnds: task.formerEnds.slice(0, -1) };
}

function suggestionToRevive(status: TaskStatus): string {
  if (status === 'done') return 'What is done stays done: create another task with coordination.create_task.';
  return status === 'available'
    ? 'It waits to be claimed as it is.'
    : 'Take it from its holder with coordination.release_task, or end it with coordination.cancel_task first.';
}
