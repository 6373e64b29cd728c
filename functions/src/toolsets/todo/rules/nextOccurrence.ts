/**
 * One occurrence follows another. Only what ends a recurring task's latest occurrence makes the next, and the
 * commit that does so changes the recurring task at the version that it was read at: of two at once, one fails.
 */
import type { Change } from '../../../kernel/commit.ts';
import { guardChangesIfFree } from './duplicateGuard.ts';
import type { TodoPorts } from './ports.ts';
import { type Occurrence, occurrenceId, type RecurringTask } from './recurrence.ts';
import type { Todo } from './todo.ts';
import { changeContext, creationChanges } from './todoChanges.ts';

/** The to-do of an occurrence, as its recurring task describes it. */
export function occurrenceTodo(recurring: RecurringTask, occurrence: Occurrence, now: Date): Todo {
  const { id, ownerUid, title, description, priority, tags } = recurring;
  return {
    id: occurrenceId(id, occurrence.on),
    ownerUid,
    title,
    ...(description !== undefined && { description }),
    dueDate: occurrence.due,
    priority,
    tags,
    completed: false,
    createdAt: now,
    occurrence: { recurringTaskId: id, on: occurrence.on },
  };
}

/** The occurrence that follows a to-do which was completed or deleted at `now`, and the changes that make it. */
export async function followingOccurrence(
  ports: TodoPorts,
  ended: Todo,
  now: Date,
): Promise<{ readonly next?: Todo; readonly changes: readonly Change[] }> {
  const { occurrence } = ended;
  const found = occurrence && (await ports.recurringTasks.find(occurrence.recurringTaskId));
  if (found === undefined || !isLatest(found.value, ended)) return { changes: [] };
  const { value: recurring, version } = found;
  const after = new Date(Math.max(now.getTime(), ended.dueDate?.getTime() ?? 0));
  const { nextOccurrence } = await import('./occurrences.ts');
  const latest = nextOccurrence(recurring.rule, after, occurrence?.on);
  if (latest === undefined) {
    return {
      changes: [{ kind: 'replaceRecurringTask', recurringTask: { ...recurring, endedAt: now }, version }],
    };
  }
  const next = occurrenceTodo(recurring, latest, now);
  return {
    next,
    changes: [
      { kind: 'replaceRecurringTask', recurringTask: { ...recurring, latest }, version },
      ...creationChanges(next, await changeContext(ports, next, now, true)),
      ...(await guardChangesIfFree(ports, undefined, next)),
    ],
  };
}

function isLatest({ ownerUid, latest, endedAt }: RecurringTask, todo: Todo): boolean {
  return endedAt === undefined && ownerUid === todo.ownerUid && latest.on === todo.occurrence?.on;
}
