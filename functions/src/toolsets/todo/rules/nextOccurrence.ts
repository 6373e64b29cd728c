/**
 * One occurrence follows another. Only what ends a recurring task's latest occurrence makes the next, and the
 * commit that does so changes the recurring task at the version that it was read at: of two at once, one fails.
 */
import type { Change } from '../../../kernel/commit.ts';
import type { Titles } from './duplicateGuard.ts';
import type { TodoPorts } from './ports.ts';
import { type Occurrence, occurrenceId, type RecurrenceRule, type RecurringTask } from './recurrence.ts';
import type { Todo } from './todo.ts';
import { creationChanges, happeningTo } from './todoChanges.ts';

interface Successor {
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

// Finds occurrences with what occurrences.ts computes; the calendar is loaded when it is first needed.

/** The occurrence that the anchor is. */
export async function firstOccurrence(rule: RecurrenceRule): Promise<Occurrence> {
  const occurrences = await import('./occurrences.ts');
  return occurrences.firstOccurrence(rule);
}

/**
 * The first occurrence that is due after an instant, computed from the anchor: in a month that lacks the
 * anchor's day on its last, at the anchor's time of day, in a gap of the clock as much later as the gap is
 * long, in an overlap the first time. It takes the same few steps however far away that is.
 *
 * @param after what the occurrence is due strictly after: for a completed one the later of its due date and
 *   its completion
 * @param afterDate `on` of the occurrence that it follows, where there is one. It makes sure that the next
 *   one has another id when the to-do was moved ahead or the rule was edited.
 * @returns undefined after the last
 */
export async function nextOccurrence(
  rule: RecurrenceRule,
  after: Date,
  afterDate?: string,
): Promise<Occurrence | undefined> {
  const occurrences = await import('./occurrences.ts');
  return occurrences.nextOccurrence(rule, after, afterDate);
}
