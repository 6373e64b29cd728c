/** Takes back what was done to to-dos, recurring tasks and reminders. Source: docs/semantics.md#taking-back. */
import type { Change } from '../../../kernel/commit.ts';
import { readFor, Service } from '../../../kernel/ports.ts';
import { asBefore, changedSince, type Effect } from '../../../kernel/trail.ts';
import { guardChanges } from './duplicateGuard.ts';
import type { TodoPorts } from './ports.ts';
import type { Todo } from './todo.ts';
import {
  changeContext,
  creationChanges,
  deletionEffects,
  replacementChanges,
  withdrawalEffects,
} from './todoChanges.ts';

export class TodoInverse extends Service<TodoPorts> {
  /** @throws MusterError CONFLICT, with the reason CHANGED_SINCE or DUPLICATE_TASK */
  readonly todo = async (effect: Effect): Promise<readonly Change[]> => {
    const { todos, todoFields, clock } = this.ports;
    const found = await readFor(effect.ownerUid ?? '', todos.findReminded(effect.id));
    const fields = asBefore(effect, found && todoFields.of(found.value));
    const now = clock.now();
    if (fields === undefined) return found === undefined ? [] : this.deletion(found.value, found.version);
    const before = todoFields.from(fields);
    if (found === undefined) return this.recreation({ ...before, restored: (before.restored ?? 0) + 1 });
    const isDue = before.dueDate !== undefined && !before.completed;
    const context = await changeContext(this.ports, before, now, isDue);
    const reserved = await guardChanges(this.ports, found.value, before);
    return [...replacementChanges(found, before, context), ...reserved];
  };

  /** What was begun is ended: the to-dos that it has made say themselves what becomes of them. */
  readonly recurringTask = async (effect: Effect): Promise<readonly Change[]> => {
    const { recurringTasks, recurringTaskFields, clock } = this.ports;
    const found = await readFor(effect.ownerUid ?? '', recurringTasks.find(effect.id));
    if (found === undefined) throw changedSince(effect, ['it is gone']);
    const { value, version } = found;
    const fields = asBefore(effect, recurringTaskFields.of(value));
    const recurringTask =
      fields === undefined ? { ...value, endedAt: clock.now() } : recurringTaskFields.from(fields);
    return [{ kind: 'replaceRecurringTask', recurringTask, before: value, version }];
  };

  readonly reminder = async (effect: Effect): Promise<readonly Change[]> => {
    const { todos, reminders, reminderFields } = this.ports;
    const ownerUid = effect.ownerUid ?? '';
    const [todo, before] = await Promise.all([
      readFor(ownerUid, todos.find(effect.id)),
      readFor(ownerUid, reminders.find(effect.id)),
    ]);
    const fields = asBefore(effect, before && reminderFields.of(before.value));
    if (fields === undefined) return before === undefined ? [] : [{ kind: 'dropReminder', before }];
    if (todo === undefined || todo.value.completed) throw changedSince(effect, ['its to-do is done or gone']);
    return [{ kind: 'setReminder', reminder: reminderFields.from(fields), before }];
  };

  /** Without the occurrence that would follow: it is as if this one had never been made. */
  private async deletion(todo: Todo, version: string): Promise<readonly Change[]> {
    const released = await guardChanges(this.ports, todo, undefined);
    const now = this.ports.clock.now();
    const isOccurrence = todo.recurringTaskId !== undefined;
    const effects = isOccurrence ? withdrawalEffects(todo, now) : deletionEffects(todo, now);
    return [{ kind: 'deleteTodo', todo, version }, ...effects, ...released];
  }

  private async recreation(todo: Todo): Promise<readonly Change[]> {
    const isDue = todo.dueDate !== undefined && !todo.completed;
    const context = await changeContext(this.ports, todo, this.ports.clock.now(), isDue);
    const reserved = await guardChanges(this.ports, undefined, todo);
    return [...creationChanges(todo, context), ...reserved];
  }
}
