/** Task actions: cancel, release and retry, each in one optimistic commit. Source: docs/semantics.md#task-actions. */
import { type Principal, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole } from '../../../identity/rules/role.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { readUnreadable, Service } from '../../../kernel/ports.ts';
import { requeuedCoding, withFailure } from './codingTask.ts';
import { queueGrowth } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts } from './ports.ts';
import { Proofs } from './proof/proofs.ts';
import { sentBack } from './proof/sendBack.ts';
import { cancelTask, invalidTransition, releaseClaim } from './stateMachine.ts';
import { isHeld, isOfRun, type Task, type TaskStatus, taskNotFound } from './task.ts';
import { outcomeChanges, taskChanges, withSpent } from './taskChanges.ts';

/** Maximum number of dependents that one call retries, and maximum number of tasks that it reads to find them. */
const MAX_REQUEUED = 100;
const MAX_DEPENDENTS_READ = 500;

interface TaskAction {
  readonly taskId: string;
  readonly reason?: string | undefined;
}

export interface RequeuedTask {
  readonly task: Task;
  readonly dependents: readonly string[];
  /** Whether there are more dependents that could be retried. */
  readonly isTruncated: boolean;
  /** Set if the task was sent back: whether it was done before. */
  readonly wasDone?: boolean;
}

interface Retry {
  readonly taskId: string;
  readonly withDependents: boolean;
  /** Requested changes. If set, a done or verifying task is sent back. */
  readonly comments?: string | undefined;
}

export class TaskActions extends Service<CoordinationPorts> {
  private readonly proofs = new Proofs(this.ports);

  /** Cancels an open task, even if held. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if the task is closed */
  cancel(principal: Principal, decision: TaskAction, recordResponse: RecordResponse<Task>): Promise<Task> {
    return applyTaskAction(this.ports, principal, decision.taskId, async ({ value: before, version }, now) => {
      const message = await actionText(this.ports, 'Cancelled', principal, decision.reason);
      const task = withFailure(cancelTask(before, message, now), { class: 'cancelled', message });
      const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
      const ended = await this.proofs.endCheck(before, now);
      await this.ports.store.commit([...changes, ...ended], recordResponse(task));
      return task;
    });
  }

  /** Releases a task for other agents. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if the task is not held */
  release(principal: Principal, decision: TaskAction, recordResponse: RecordResponse<Task>): Promise<Task> {
    return applyTaskAction(this.ports, principal, decision.taskId, async ({ value: before, version }, now) => {
      const message = await actionText(this.ports, 'Released', principal, decision.reason);
      const task = requeuedCoding(before, releaseClaim(before, message), { class: 'cancelled', message }, now);
      const changes = outcomeChanges(before, { kind: 'accepted', task }, version, now);
      const grown = await queueGrowth(this.ports.sessions, task);
      await this.ports.store.commit([...changes, ...grown], recordResponse(task));
      return task;
    });
  }

  /** Retries an ended task and, on request, its dependents. @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT */
  retry(
    principal: Principal,
    { taskId, withDependents, comments }: Retry,
    recordResponse: RecordResponse<RequeuedTask>,
  ): Promise<RequeuedTask> {
    if (comments !== undefined && withDependents)
      throw new MusterError('VALIDATION_ERROR', 'Set comments or with_dependents, not both.', {
        field: 'with_dependents',
        reason: 'SENDS_BACK_ONE',
        suggestion: 'comments sends back one task, whose dependents then wait again.',
      });
    return applyTaskAction(this.ports, principal, taskId, async (found, now) => {
      if (isOfRun(found.value)) throw runHasEnded(taskId);
      if (comments !== undefined) {
        const { task, changes } = await sentBack(this.ports, this.proofs, found, { by: principal, comments, now });
        const outcome = { task, dependents: [], isTruncated: false, wasDone: found.value.status === 'done' };
        await this.ports.store.commit(changes, recordResponse(outcome));
        return outcome;
      }
      const task = requeuedChanges(found.value, now);
      const none = { items: [], isTruncated: false };
      const { items, isTruncated } = withDependents ? await this.failedDependents(found.value) : none;
      const ended = [found, ...items];
      const changes = [
        ...ended.flatMap(({ value, version }) => taskChanges(value, requeuedChanges(value, now), version, now)),
        ...ended.flatMap(({ value }) => dependencyChanges(value)),
      ];
      const others = items.map(({ value }) => value);
      const grown = await queueGrowth(this.ports.sessions, task, ...others);
      if (grown.length === 0) throw sessionArchived(taskId);
      const outcome = { task, dependents: others.map(({ id }) => id), isTruncated };
      await this.ports.store.commit([...changes, ...grown], recordResponse(outcome));
      return outcome;
    });
  }

  /** Returns the direct and indirect dependents that failed or were cancelled, nearest first. */
  private async failedDependents(task: Task): Promise<{ items: Versioned<Task>[]; isTruncated: boolean }> {
    const seen = new Set([task.id]);
    const items: Versioned<Task>[] = [];
    let next: readonly string[] = task.dependents;
    while (next.length > 0) {
      const ids = [...new Set(next)].filter((id) => !seen.has(id));
      if (seen.size + ids.length > MAX_DEPENDENTS_READ) return { items, isTruncated: true };
      for (const id of ids) seen.add(id);
      const found = (await this.ports.tasks.findAll(ids)).flatMap((one) => one ?? []);
      const ended = found.filter(({ value }) => value.status === 'failed' || value.status === 'cancelled');
      items.push(...ended.slice(0, MAX_REQUEUED - items.length));
      if (items.length === MAX_REQUEUED) return { items, isTruncated: true };
      next = found.flatMap(({ value }) => (value.status === 'done' ? [] : value.dependents));
    }
    return { items, isTruncated: false };
  }
}

/** Applies an action to a task that the caller may manage; retries on conflict. @throws NOT_FOUND; FORBIDDEN */
export function applyTaskAction<Result>(
  { tasks, randomness, clock }: CoordinationPorts,
  principal: Principal,
  taskId: string,
  attempt: (found: Versioned<Task>, now: Date) => Promise<Result>,
): Promise<Result> {
  const isIn = (workspace: string) => roleIn(principal, workspace) !== undefined;
  return retryOnConflict(randomness, async () => {
    const found = await readUnreadable(isIn, tasks.find(taskId));
    if (found === undefined || !isIn(found.value.workspace)) throw taskNotFound(taskId);
    requireTaskManager(principal, found.value, 'task_id');
    return attempt(found, clock.now());
  });
}

/** Returns the reason to store, such as `Cancelled by lead: no longer wanted`. */
export async function actionText(
  { idTokens }: Pick<CoordinationPorts, 'idTokens'>,
  what: string,
  { agent_id, uid }: Principal,
  reason: string | undefined,
): Promise<string> {
  const who = agent_id ?? (await idTokens.profiles([uid])).get(uid)?.name ?? uid;
  return `${what} by ${who}${reason === undefined ? '.' : `: ${reason}`}`;
}

/** Returns the task as retry_task requeues it. */
export function requeuedChanges(before: Task, now: Date): Task {
  const kind = before.status === 'cancelled' ? 'cancelled' : 'crashed';
  const failure = before.coding?.failure ?? { class: kind, message: before.error ?? 'The task failed.' };
  return requeuedCoding(before, requeueTask(before), failure, now);
}

/** Returns the changes of a retried task's direct dependents, which the task blocks again. */
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

type ManagedTask = Pick<Task, 'id' | 'workspace' | 'owner_uid'>;

/** Checks that a caller is a task manager of the task. @throws MusterError FORBIDDEN */
export function requireTaskManager(principal: Principal, task: ManagedTask, field: 'task_id' | 'taskId' | 'id'): void {
  const role = roleIn(principal, task.workspace) ?? 'viewer';
  if (hasRole(role, 'leader') || (hasRole(role, 'worker') && task.owner_uid === principal.owner_uid)) return;
  throw new MusterError('FORBIDDEN', `You cannot change task "${task.id}".`, {
    field,
    reason: 'NOT_YOURS',
    suggestion: 'Ask its creator, another agent of the same owner, or a leader of the workspace.',
  });
}

const MAX_PREVIOUS_OUTCOMES = 10;

/**
 * Requeues a failed or cancelled task, and keeps its outcome in `former_ends`. The number of retries restarts at 0,
 * the claim epoch is kept, and reports of the last holder are rejected.
 */
export function requeueTask(task: Task): Task {
  const { status, claim, completed_at: closedAt, parts_awaited: _waited, result: _kept, ...rest } = task;
  if ((status !== 'failed' && status !== 'cancelled') || closedAt === undefined)
    throw invalidTransition(task, 'be retried', undefined, retrySuggestion(status));
  const { error, claim_epoch: epoch, retries } = task;
  const by = { ...(error !== undefined && { error }), ...(claim && { agent_id: claim.claimed_by }) };
  const end = { status, ended_at: closedAt, claim_epoch: epoch, retries, ...by };
  return {
    ...rest,
    status: 'available',
    retries: 0,
    rounds: 0,
    former_ends: [...task.former_ends, end].slice(-MAX_PREVIOUS_OUTCOMES),
    lapsed_claims: task.lapsed_claims.filter((expired) => expired.claim_epoch !== epoch),
  };
}

/**
 * Reopens a completed task. If its last holder is online, that agent holds the task again, with a renewed lease. If
 * not, the task is available. The time worked is subtracted, because it is counted again when the new claim ends.
 * @param previous the task before its completion
 */
export function undoRequeue(task: Task, previous: Task, isHolderOnline: boolean, now: Date): Task {
  if (task.status !== 'done') throw invalidTransition(task, 'be reopened');
  const { claim, ...rest } = previous;
  if (!isHolderOnline || claim === undefined || !isHeld(previous.status)) return { ...rest, status: 'available' };
  const leaseExpiresAt = new Date(now.getTime() + claim.lease_seconds * 1000);
  const worked = Number(task.completed_at) - claim.claimed_at.getTime();
  return withSpent({ ...previous, claim: { ...claim, lease_expires_at: leaseExpiresAt } }, { milliseconds: -worked });
}

/** Undoes a retry: restores the outcome that the task had before the retry. */
export function restoreOutcome(task: Task, previous: Task): Task {
  if (task.status !== 'available') throw invalidTransition(task, 'be ended again');
  return { ...previous, former_ends: task.former_ends.slice(0, -1) };
}

function retrySuggestion(status: TaskStatus): string {
  if (status === 'done')
    return 'To send its result back, set comments. For more work, create another task with coordination.create_task.';
  return status === 'available'
    ? 'No retry is needed: the task is in the queue.'
    : 'Release the task with coordination.release_task, or cancel it with coordination.cancel_task and then retry it.';
}
