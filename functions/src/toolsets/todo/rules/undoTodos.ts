/** Undoes changes of to-dos, recurring to-dos and reminders. Source: docs/semantics.md#undo. */
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import { changedSinceError, restoredFields } from '../../../kernel/effects.ts';
import { readFor, Service } from '../../../kernel/ports.ts';
import type { CoordinationPorts } from '../../coordination/index.ts';
import { guardChanges } from './duplicateGuard.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import { followingOccurrence, latestId, occurrenceAfter, replacement } from './recurring/recurringTasks.ts';
import { reminderBefore } from './reminders/reminder.ts';
import { isReported, repairTodo } from './repair.ts';
import type { RemindedTodo, Todo } from './todo.ts';
import { changeContext, creationChanges, leadOf, removalEffects, replacementChanges } from './todoChanges.ts';

/** States of a task in which a delegation to that task can be undone. */
const NOT_DELEGATED: readonly string[] = ['available', 'failed', 'cancelled'];

export class TodoUndo extends Service<TodoPorts & { readonly tasks: Pick<CoordinationPorts['tasks'], 'find'> }> {
  /**
   * Undoes an event's changes of a to-do or a recurring to-do. Changes of a recurring to-do and its occurrences are
   * undone together or not at all, so that an active recurring to-do always has an open occurrence. Exception: a
   * to-do is reopened alone if the other changes cannot be undone, because an additional open to-do does no harm.
   * @throws MusterError CONFLICT with the reason CHANGED_SINCE or DUPLICATE_TASK
   */
  readonly recurrence = async (
    effect: AuditEffect,
    _by: unknown,
    _caller: unknown,
    together: readonly AuditEffect[],
  ): Promise<readonly TodoChange[]> => {
    const series = together.find(({ kind, id }) => kind === 'recurring_task' && belongsTo(effect, id));
    const others = together.filter((one) => one !== effect && series && belongsTo(one, series.id));
    if (others.length === 0) return this.todoOnly(effect);
    const changes = await this.part(effect);
    try {
      for (const other of others) await this.part(other);
    } catch (error) {
      if (effect.kind !== 'todo' || effect.before?.['completed'] !== false) throw error;
    }
    return changes;
  };

  readonly reminder = async (effect: AuditEffect): Promise<readonly TodoChange[]> => {
    const { todos, reminders, reminderFields } = this.ports;
    const ownerUid = effect.owner_uid ?? '';
    const [todo, before] = await Promise.all([
      readFor(ownerUid, todos.find(effect.id)),
      readFor(ownerUid, reminders.find(effect.id)),
    ]);
    const fields = restoredFields(effect, before && reminderFields.of(before.value));
    if (fields === undefined) return before === undefined ? [] : [{ kind: 'cancelReminder', before }];
    if (todo === undefined || todo.value.completed) throw changedSinceError(effect, ['its to-do is not open']);
    return [{ kind: 'setReminder', reminder: reminderFields.from(fields), before }];
  };

  private part(effect: AuditEffect): Promise<readonly TodoChange[]> {
    return effect.kind === 'todo' ? this.todo(effect) : this.recurringTask(effect);
  }

  private async todoOnly(effect: AuditEffect): Promise<readonly TodoChange[]> {
    const changes = await this.part(effect);
    const now = this.ports.clock.now();
    for (const change of changes) {
      if (change.kind === 'replaceRecurringTask') return this.continued(effect, change, now);
      const ended =
        change.kind === 'deleteTodo' || (change.kind === 'replaceTodo' && change.todo.completed)
          ? change.todo
          : undefined;
      if (ended) return [...changes, ...(await followingOccurrence(this.ports, ended, now)).changes];
    }
    return changes;
  }

  private async todo(effect: AuditEffect): Promise<readonly TodoChange[]> {
    const { todoFields, clock } = this.ports;
    const found = await this.repaired(effect);
    const fields = restoredFields(effect, found && todoFields.of(found.value));
    const now = clock.now();
    if (fields === undefined) return found === undefined ? [] : this.deletion(effect, found);
    const before = todoFields.from(fields);
    if (found === undefined) return this.recreation(before, now);
    if (before.delegated_task_id !== found.value.delegated_task_id) return this.delegation(effect, found, before);
    const isDue = before.due_date !== undefined && !before.completed;
    const context = await changeContext(this.ports, before, now, isDue);
    const reserved = await guardChanges(this.ports, found.value, before);
    const changes = [...replacementChanges(found, before, context), ...reserved];
    const isKept = await this.hasOwnReminder(found, before);
    return isKept ? changes.filter(({ kind }) => kind !== 'deleteReminder') : changes;
  }

  /** Undoes a delegation or its undo. Refused while an agent holds the task, or after the task is completed. */
  private async delegation(
    effect: AuditEffect,
    { value: before, version }: RemindedTodo,
    { delegated_task_id }: Todo,
  ): Promise<readonly TodoChange[]> {
    const { delegated_task_id: taskId, ...rest } = before;
    const task = taskId === undefined ? undefined : (await this.ports.tasks.find(taskId))?.value;
    if (task !== undefined && !NOT_DELEGATED.includes(task.status))
      throw changedSinceError(effect, [`task "${task.id}" is ${task.status}`]);
    const todo = { ...rest, ...(delegated_task_id !== undefined && { delegated_task_id }) };
    return [{ kind: 'delegateTodo', before, todo, version }];
  }

  /** Returns whether the undo removes a due date from a to-do whose reminder was set by the owner, not by default. */
  private async hasOwnReminder({ value, reminder }: RemindedTodo, before: Todo): Promise<boolean> {
    if (before.completed || before.due_date || !value.due_date || reminder?.value.sent !== false) return false;
    const lead = await leadOf(this.ports, value);
    const defaultReminder = reminderBefore(value, value.due_date, this.ports.clock.now(), lead);
    return reminder.value.remind_at.getTime() !== defaultReminder.remind_at.getTime();
  }

  /** Reads the to-do. A direct change by a client is repaired first, so that it has its own event. */
  private async repaired({ id, owner_uid = '' }: AuditEffect): Promise<RemindedTodo | undefined> {
    const { todos } = this.ports;
    const found = await readFor(owner_uid, todos.findReminded(id));
    if (found === undefined || isReported(found)) return found;
    await repairTodo(this.ports, id, undefined);
    return readFor(owner_uid, todos.findReminded(id));
  }

  private async recurringTask(effect: AuditEffect): Promise<readonly TodoChange[]> {
    const { recurringTasks, recurringTaskFields, clock } = this.ports;
    const found = await readFor(effect.owner_uid ?? '', recurringTasks.find(effect.id));
    if (found === undefined) throw changedSinceError(effect, ['it was deleted']);
    const fields = restoredFields(effect, recurringTaskFields.of(found.value));
    const recurringTask =
      fields === undefined ? { ...found.value, ended_at: clock.now() } : recurringTaskFields.from(fields);
    return [replacement(recurringTask, found)];
  }

  /** If undo reactivates an ended recurring to-do that has no open occurrence, creates the next occurrence. */
  private async continued(
    effect: AuditEffect,
    change: Extract<TodoChange, { readonly kind: 'replaceRecurringTask' }>,
    now: Date,
  ): Promise<readonly TodoChange[]> {
    const { recurringTask: recurring, before, version } = change;
    if (before.ended_at === undefined || recurring.ended_at !== undefined) return [change];
    const latest = await this.ports.todos.find(latestId(recurring));
    if (latest?.value.completed === false) return [change];
    const after = new Date(Math.max(now.getTime(), recurring.latest_due.getTime()));
    const following = await occurrenceAfter(this.ports, { found: { value: before, version }, recurring, after, now });
    if (following === undefined) throw changedSinceError(effect, ['its latest occurrence is not open']);
    return following.changes;
  }

  private async deletion(effect: AuditEffect, { value: todo, version }: RemindedTodo): Promise<readonly TodoChange[]> {
    // After the deletion, an occurrence created again under this id would not have the parts of this occurrence.
    if (todo.recurring_task_id !== undefined && todo.ancestors !== undefined)
      throw changedSinceError(effect, ['it has parts']);
    const released = await guardChanges(this.ports, todo, undefined);
    const effects = removalEffects(todo, this.ports.clock.now());
    return [{ kind: 'deleteTodo', todo, version }, ...effects, ...released];
  }

  private async recreation(before: Todo, now: Date): Promise<readonly TodoChange[]> {
    // The undo of one event can itself be undone and repeated. The time makes each restoration's id unique.
    const todo = { ...before, restored: Math.max(now.getTime(), (before.restored ?? 0) + 1) };
    const isDue = todo.due_date !== undefined && !todo.completed;
    const context = await changeContext(this.ports, todo, now, isDue);
    const reserved = await guardChanges(this.ports, undefined, todo);
    return [...creationChanges(todo, context), ...reserved];
  }
}

/** Returns whether an effect concerns a recurring to-do or its occurrences, whose ids start with that to-do's id. */
function belongsTo({ kind, id }: AuditEffect, recurringTaskId: string): boolean {
  return (
    (kind === 'recurring_task' && id === recurringTaskId) || (kind === 'todo' && id.startsWith(`${recurringTaskId}_`))
  );
}
