/**
 * One occurrence follows another. Only what ends a recurring task's latest occurrence makes the next, and the
 * commit that does so changes the recurring task at the version that it was read at: of two at once, one fails.
 */
import { type Occurrence, occurrenceId } from '../recurrence/occurrence.ts';
import { nextOccurrence } from '../recurrence/schedule.ts';
import type { Change } from '../store.ts';
import { creationChanges, happeningTo } from './changes.ts';
import type { TodoPorts } from './ports.ts';
import type { RecurringTask } from './recurringTask.ts';
import type { Titles } from './titles.ts';
import type { Todo } from './todo.ts';

export interface Successor {
  readonly next?: Todo;
  readonly changes: readonly Change[];
}

const NONE: Successor = { changes: [] };

/** The to-do of an occurrence, as the recurring task has it made. */
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

export class Succession {
  private readonly ports: TodoPorts;
  private readonly titles: Titles;

  constructor(ports: TodoPorts, titles: Titles) {
    this.ports = ports;
    this.titles = titles;
  }

  /** What follows a to-do that was completed or deleted at `now`. */
  async after(ended: Todo, now: Date): Promise<Successor> {
    const { recurringTasks, preferences, randomness } = this.ports;
    const { occurrence } = ended;
    if (occurrence === undefined) return NONE;
    const found = await recurringTasks.find(occurrence.recurringTaskId);
    if (found === undefined || !isLatest(found.value, ended)) return NONE;
    const { value: recurring, version } = found;
    const after = new Date(Math.max(now.getTime(), ended.dueDate?.getTime() ?? 0));
    const latest = await nextOccurrence(recurring.rule, after, occurrence.on);
    if (latest === undefined) {
      return {
        changes: [{ kind: 'replaceRecurringTask', recurringTask: { ...recurring, endedAt: now }, version }],
      };
    }
    const next = occurrenceTodo(recurring, latest, now);
    const happening = await happeningTo(next, randomness.uuid(), now, { isDue: true, preferences });
    return {
      next,
      changes: [
        { kind: 'replaceRecurringTask', recurringTask: { ...recurring, latest }, version },
        ...creationChanges(next, happening),
        ...(await this.titles.tolerantChanges(undefined, next)),
      ],
    };
  }
}

function isLatest({ ownerUid, latest, endedAt }: RecurringTask, todo: Todo): boolean {
  return endedAt === undefined && ownerUid === todo.ownerUid && latest.on === todo.occurrence?.on;
}
