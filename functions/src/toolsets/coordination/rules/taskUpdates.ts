/** Updates of open tasks. Source: docs/semantics.md#task-actions. */
import { acceptanceOf, DEFAULT_PROOF, demandsNothing, type Requirements } from '../../../access/rules/proofSettings.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { canonicalJson, MAX_TASK_BYTES, requireSize } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { dependencyStateOf, readDependencies, requireNoCycle, type TasksById } from './dependencies.ts';
import { queueGrowthIn } from './openSession.ts';
import type { CoordinationChange, CoordinationPorts, TaskWithChanges } from './ports.ts';
import { Proofs } from './proof/proofs.ts';
import { decided, isVerifying } from './proof/proving.ts';
import { requireNoAuthor, requireWaiver, withPerson } from './proof/requirements.ts';
import type { OpenSession } from './session.ts';
import { isClosed, isHeld, requireFutureDeadline, type Task, taskType } from './task.ts';
import { applyTaskAction, sessionArchived } from './taskActions.ts';
import { taskChanges } from './taskChanges.ts';

/** Fields to update. An undefined field is kept, and a field that is null is removed. */
export interface TaskUpdate {
  readonly taskId: string;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly dependencies?: readonly string[] | undefined;
  readonly required_capabilities?: readonly string[] | undefined;
  readonly hints?: string | null | undefined;
  readonly files?: readonly string[] | undefined;
  readonly deadline?: Date | null | undefined;
  readonly acceptance?: Requirements | null | undefined;
}

export interface UpdatedTask {
  readonly task: Task;
  readonly isChanged: boolean;
}

export class TaskUpdates extends Service<CoordinationPorts> {
  private readonly proofs = new Proofs(this.ports);

  /**
   * @throws MusterError NOT_FOUND; FORBIDDEN; CONFLICT if the task is closed, or is held and the new dependencies
   * would block it; VALIDATION_ERROR for an unknown dependency or a cycle
   */
  update(principal: Principal, update: TaskUpdate, recordResponse: RecordResponse<UpdatedTask>): Promise<UpdatedTask> {
    const { taskId, ...wishes } = update;
    if (Object.values(wishes).every((wish) => wish === undefined)) throw nothingToUpdate();
    requireSize('A task', 'description', wishes, MAX_TASK_BYTES);
    requireFutureDeadline(update.deadline ?? undefined, 'deadline', this.ports.clock.now());
    return applyTaskAction(this.ports, principal, taskId, async ({ value: before, version }, now) => {
      if (isClosed(before.status)) throw taskClosed(before);
      const described = await this.withAcceptance(withUpdatedFields(before, update), update.acceptance, principal, now);
      if (described.status === 'done') {
        const own = await this.proofs.changesOf({ value: before, version }, described, now);
        const outcome = { task: described, isChanged: true };
        await this.ports.store.commit([...own, ...(await this.proofs.endCheck(before, now))], recordResponse(outcome));
        return outcome;
      }
      const { task, changes } = await this.changesTo({ value: before, version }, described, update, now);
      const outcome = { task, isChanged: updatableFields(before) !== updatableFields(task) };
      await this.ports.store.commit(outcome.isChanged ? changes : [], recordResponse(outcome));
      return outcome;
    });
  }

  /** Returns the task with another acceptance. A verifying task whose acceptance is waived is done. */
  private async withAcceptance(task: Task, wanted: TaskUpdate['acceptance'], by: Principal, now: Date): Promise<Task> {
    if (wanted === undefined) return task;
    requireNoAuthor(task, by);
    if (wanted === null || demandsNothing(wanted)) {
      requireWaiver(by, task);
      const { acceptance: _waived, ...rest } = task;
      if (!isVerifying(task)) return rest;
      return decided(task, { step: 'waived', by: by.agent_id ?? by.uid, at: now }, now);
    }
    if (isVerifying(task)) throw handedIn(task);
    const { proof = DEFAULT_PROOF } = await this.ports.sessions.opening(task.workspace);
    const acceptance = acceptanceOf(proof, taskType(task), await withPerson(this.ports, task.workspace, wanted, FIELD));
    return acceptance === undefined ? task : { ...task, acceptance };
  }

  /** @param described the task with all updates except that of the dependencies. @throws as `update` */
  async changesTo(
    { value: before, version }: Versioned<Task>,
    described: Task,
    wishes: Omit<TaskUpdate, 'taskId'>,
    now: Date,
  ): Promise<TaskWithChanges> {
    if (isClosed(before.status)) throw taskClosed(before);
    const { dependencies } = wishes;
    const open = affectsQueue(wishes) ? await this.openSession(before) : undefined;
    const { task, changes } =
      dependencies === undefined || open === undefined
        ? { task: described, changes: [] }
        : await this.withDependencies(before, described, dependencies, open);
    // Two concurrent updates could create a cycle. Both write the session, so one of them is stale and checks again.
    const alone = dependencies === undefined ? undefined : open?.sessionVersion;
    const grown = open ? [await queueGrowthIn(this.ports.sessions, open, [task], alone)] : [];
    return { task, changes: [...taskChanges(before, task, version, now), ...changes, ...grown] };
  }

  private async openSession(task: Task): Promise<OpenSession> {
    const open = await this.ports.sessions.current(task.workspace);
    if (open?.session.id !== task.session) throw sessionArchived(task.id, 'be changed');
    return open;
  }

  private async withDependencies(
    before: Task,
    task: Task,
    named: readonly string[],
    { session }: OpenSession,
  ): Promise<TaskWithChanges> {
    const { tasks } = this.ports;
    const ids = [...new Set(named)];
    const known = new Set(before.dependencies);
    const added = new Map(ids.filter((id) => !known.has(id)).map((id) => [id, [task.id]]));
    const fieldFor = () => 'dependencies';
    const found = await readDependencies(tasks, session, { ids, dependents: added, fieldFor });
    const dependencies = [...found.values()].map(({ value }) => value);
    await requireNoCycle(tasks, task, dependencies);
    const standing = dependencyStateOf(dependencies);
    if (isHeld(before.status) && standing.blockers > 0) throw blockedWhileHeld(before);
    const blockers = standing.blockers + (before.retry_at === undefined ? 0 : 1);
    const stuckUnsettled = standing.stuck_unsettled || before.stuck || before.stuck_unsettled;
    return {
      task: { ...task, ...standing, blockers, stuck_unsettled: stuckUnsettled, dependencies: ids },
      changes: edgeChanges(before, found),
    };
  }
}

function withUpdatedFields(before: Task, { deadline, hints, files, ...update }: TaskUpdate): Task {
  const { description = before.description, priority = before.priority } = update;
  const { required_capabilities = before.required_capabilities } = update;
  if (before.coding !== undefined && update.required_capabilities !== undefined)
    throw new MusterError('VALIDATION_ERROR', `The capabilities of the coding task "${before.id}" cannot be changed.`, {
      field: 'required_capabilities',
      reason: 'CODING_TASK',
      suggestion: 'Omit required_capabilities. For another tool or project, create another task.',
    });
  const { deadline: former, context, ...rest } = before;
  const kept = deadline === undefined ? former : (deadline ?? undefined);
  const { hints: formerHints, ...contextRest } = context;
  const keptHints = hints === undefined ? formerHints : (hints ?? undefined);
  return {
    ...rest,
    description,
    priority,
    required_capabilities,
    context: { ...contextRest, ...(files && { files }), ...(keptHints !== undefined && { hints: keptHints }) },
    ...(kept && { deadline: kept }),
  };
}

function updatableFields(task: Task) {
  const { description, priority, dependencies, required_capabilities, context, deadline, acceptance } = task;
  return canonicalJson([description, priority, dependencies, required_capabilities, context, deadline, acceptance]);
}

/** Returns whether an update affects which agents can claim the task, or when. */
function affectsQueue(wishes: Omit<TaskUpdate, 'taskId'>): boolean {
  const { priority, dependencies, required_capabilities, deadline } = wishes;
  return [priority, dependencies, required_capabilities, deadline].some((wish) => wish !== undefined);
}

/** Returns the changes that add the task to its new dependencies, and remove the task from its old dependencies. */
function edgeChanges(before: Task, found: TasksById): CoordinationChange[] {
  const fresh = [...found.values()].filter(
    ({ value: { status, dependents } }) => status !== 'done' && !dependents.includes(before.id),
  );
  const removed = before.dependencies.filter((id) => !found.has(id));
  return [
    ...fresh.map(({ value: { id: taskId }, version }): CoordinationChange => {
      return { kind: 'addDependents', taskId, dependents: [before.id], version };
    }),
    ...removed.map((taskId): CoordinationChange => ({ kind: 'removeDependent', taskId, dependentId: before.id })),
  ];
}

function nothingToUpdate(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'Nothing to update.', {
    field: 'task_id',
    reason: 'NOTHING_TO_UPDATE',
    suggestion:
      'Set at least one field, such as description, priority, dependencies or deadline, or list a field in the argument clear.',
  });
}

const FIELD = 'acceptance';

function handedIn({ id }: Task): MusterError {
  return new MusterError('CONFLICT', `The acceptance of task "${id}" cannot be changed: its result is handed in.`, {
    field: FIELD,
    reason: 'WRONG_STATE',
    suggestion: 'Send it back with coordination.retry_task and comments first, or waive the acceptance with clear.',
  });
}

function taskClosed({ id, status }: Task): MusterError {
  return new MusterError('CONFLICT', `Task "${id}" cannot be changed: it is ${status}.`, {
    field: 'task_id',
    reason: 'WRONG_STATE',
    suggestion:
      status === 'done'
        ? 'Completed tasks cannot be changed. Create another task.'
        : 'Requeue the task with coordination.retry_task first.',
  });
}

function blockedWhileHeld({ id, claim }: Task): MusterError {
  const what = `Task "${id}" cannot depend on open tasks, because it is held by "${claim?.claimed_by}".`;
  return new MusterError('CONFLICT', what, {
    field: 'dependencies',
    reason: 'WRONG_STATE',
    suggestion: 'Release the task with coordination.release_task first, or set only dependencies that are done.',
  });
}
