/** Reopens completed to-dos. Source: docs/semantics.md#to-dos. */
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { canonicalJson } from '../../../kernel/json.ts';
import { guardChanges } from './duplicateGuard.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import type { RecurringTask } from './recurring/recurrenceRule.ts';
import { latestId, latestOccurrence, replacement } from './recurring/recurringTasks.ts';
import { reminderBefore } from './reminders/reminder.ts';
import { isReported } from './repair.ts';
import { type RemindedTodo, type Todo, todoResponse } from './todo.ts';
import { changeContext, leadOf, removalEffects, replacementChanges } from './todoChanges.ts';

export interface ReopenedOutcome {
  readonly todo: Todo;
  readonly next?: { readonly todo: Todo; readonly isWithdrawn: boolean };
}

/** @param own reads the caller's to-do. @throws MusterError CONFLICT if the to-do is open, or would be a duplicate */
export function reopenTodo(
  ports: TodoPorts,
  own: () => Promise<RemindedTodo>,
  recordResponse: RecordResponse<ReopenedOutcome>,
): Promise<ReopenedOutcome> {
  const { clock, randomness, store } = ports;
  return retryOnConflict(randomness, async () => {
    const found = await own();
    const { completed_at: _undone, ...rest } = found.value;
    if (!rest.completed)
      throw new MusterError('CONFLICT', 'This to-do is open. Nothing was changed.', {
        field: 'task_id',
        value: rest.id,
        reason: 'NOT_COMPLETED',
        about: { task_id: rest.id },
      });
    const todo: Todo = { ...rest, completed: false };
    const now = clock.now();
    const context = await changeContext(ports, todo, now, todo.due_date !== undefined);
    const following = await withoutFollowing(ports, found.value, now);
    const outcome = { todo, ...(following.next && { next: following.next }) };
    const reserved = await guardChanges(ports, undefined, todo);
    await store.commit(
      [...replacementChanges(found, todo, context), ...following.changes, ...reserved],
      recordResponse(outcome),
    );
    return outcome;
  });
}

interface Following {
  readonly next?: ReopenedOutcome['next'];
  readonly changes: readonly TodoChange[];
}

/** Withdraws the next occurrence that this completion created, unless that occurrence has been changed. */
async function withoutFollowing(ports: TodoPorts, todo: Todo, now: Date): Promise<Following> {
  const { recurring_task_id, occurs_on, completed_at, due_date, owner_uid } = todo;
  if (recurring_task_id === undefined || occurs_on === undefined) return { changes: [] };
  const found = await ports.recurringTasks.find(recurring_task_id);
  if (found === undefined || found.value.owner_uid !== owner_uid) return { changes: [] };
  if (found.value.latest_on === occurs_on) return { changes: reactivation(found, completed_at) };
  const next = await ports.todos.findReminded(latestId(found.value));
  if (next === undefined) return { changes: [] };
  const isItsOwn = next.value.created_at.getTime() === completed_at?.getTime();
  if (!isItsOwn || !(await isUntouched(ports, next, found.value)))
    return { next: { todo: next.value, isWithdrawn: false }, changes: [] };
  const latest = { ...found.value, latest_on: occurs_on, latest_due: due_date ?? found.value.latest_due };
  return {
    next: { todo: next.value, isWithdrawn: true },
    changes: [
      { kind: 'deleteTodo', todo: next.value, version: next.version },
      ...removalEffects(next.value, now),
      ...(await guardChanges(ports, next.value, undefined)),
      replacement(latest, found),
    ],
  };
}

/** Reactivates a recurring to-do that ended because this occurrence, its last one, was completed. */
function reactivation(found: Versioned<RecurringTask>, completedAt: Date | undefined): readonly TodoChange[] {
  const { ended_at, ...recurring } = found.value;
  const endedByIt = ended_at !== undefined && ended_at.getTime() === completedAt?.getTime();
  return endedByIt ? [replacement(recurring, found)] : [];
}

/** Returns whether an occurrence is unchanged since its creation, with its default reminder and without parts. */
async function isUntouched(ports: TodoPorts, next: RemindedTodo, recurring: RecurringTask): Promise<boolean> {
  const { value: todo, reminder } = next;
  if (todo.ancestors !== undefined) return false;
  const made = latestOccurrence(recurring, todo.created_at);
  if (!isReported(next) || canonicalJson(todoResponse(made)) !== canonicalJson(todoResponse(todo))) return false;
  const lead = await leadOf(ports, todo, recurring);
  const defaultReminder = reminderBefore(todo, recurring.latest_due, todo.created_at, lead);
  return reminder?.value.remind_at.getTime() === defaultReminder.remind_at.getTime();
}
