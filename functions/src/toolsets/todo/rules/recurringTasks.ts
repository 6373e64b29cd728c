/** A person's recurring tasks. Source: the to-do specification, create_recurring_task; docs/semantics.md#to-dos. */
import type { RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import { canonicalJson } from '../../../kernel/json.ts';
import type { Page } from '../../../kernel/paging.ts';
import { readFor, Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { guardChanges, guardChangesIfFree } from './duplicateGuard.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import {
  checkTimezone,
  type Occurrence,
  type RecurringTask,
  type RequestedRule,
  recurrenceRule,
} from './recurrenceRule.ts';
import { checkedTexts, notFound, requireFuture, type Todo, type WrittenTexts } from './todo.ts';
import { changeContext, creationChanges } from './todoChanges.ts';

interface RecurringDraft extends WrittenTexts, RequestedRule {}

interface RecurringEdit extends WrittenTexts {
  readonly frequency?: string | undefined;
  readonly endDate?: Date | null | undefined;
  readonly timezone?: string | undefined;
}

export interface BegunRecurrence {
  readonly recurringTask: RecurringTask;
  readonly first: Todo;
  /** When the last occurrence is due, if the rule ends. */
  readonly lastDue?: Date;
}

export interface EditedRecurringTask {
  readonly recurringTask: RecurringTask;
  /** False if it had all the values already. */
  readonly isChanged: boolean;
}

type Calendar = typeof import('./occurrences.ts');

/** How many dates to come a list shows. */
const SHOWN_AHEAD = 3;

export class RecurringTasks extends Service<TodoPorts> {
  /** @throws MusterError VALIDATION_ERROR; CONFLICT, with the reason DUPLICATE_TASK */
  async create(ownerUid: string, draft: RecurringDraft, recordAnswer: RecordAnswer<BegunRecurrence>) {
    const { clock, randomness, store } = this.ports;
    const { firstOccurrence, lastInstant, lastOccurrence } = await import('./occurrences.ts');
    const rule = recurrenceRule(draft, lastInstant);
    const checked = checkedTexts(draft);
    const last = lastOccurrence(rule);
    return retryStale(randomness, async () => {
      const createdAt = clock.now();
      requireFuture('start_date', rule.anchor, createdAt);
      const { on: latestOn, due: latestDue } = firstOccurrence(rule);
      const latest = { latestOn, latestDue };
      const recurringTask = { id: randomness.uuid(), ownerUid, ...checked, ...rule, createdAt, ...latest };
      const first = latestOccurrence(recurringTask, createdAt);
      const reserved = await guardChanges(this.ports, undefined, first);
      const created = creationChanges(first, await changeContext(this.ports, first, createdAt, true));
      const begun = { recurringTask, first, ...(last && { lastDue: last.due }) };
      await store.commit(
        [{ kind: 'createRecurringTask', recurringTask }, ...created, ...reserved],
        recordAnswer(begun),
      );
      return begun;
    });
  }

  /**
   * Changes the occurrences to come; the one that is there stays as it is.
   * @throws MusterError NOT_FOUND; VALIDATION_ERROR
   */
  async edit(
    ownerUid: string,
    id: string,
    edit: RecurringEdit,
    recordAnswer: RecordAnswer<EditedRecurringTask>,
  ): Promise<EditedRecurringTask> {
    const calendar = await import('./occurrences.ts');
    const change = (recurring: RecurringTask) => edited(recurring, edit, calendar);
    const outcomeOf = (recurringTask: RecurringTask, before: RecurringTask) => ({
      recurringTask,
      isChanged: canonicalJson(recurringTask) !== canonicalJson(before),
    });
    return this.replace(ownerUid, id, { change, outcomeOf }, recordAnswer);
  }

  /**
   * Ends it: no more occurrences come, and the one that is there stays.
   * @throws MusterError NOT_FOUND
   */
  end(ownerUid: string, id: string, recordAnswer: RecordAnswer<RecurringTask>): Promise<RecurringTask> {
    const { clock } = this.ports;
    const change = (recurring: RecurringTask) => ({ ...recurring, endedAt: clock.now() });
    const outcomeOf = (recurring: RecurringTask) => recurring;
    return this.replace(ownerUid, id, { change, outcomeOf }, recordAnswer);
  }

  list(ownerUid: string, withEnded: boolean, page: Page) {
    return this.ports.recurringTasks.list(ownerUid, withEnded, page);
  }

  /** When the next few of each are due after the one that there is; of what has ended, nothing. */
  async followingDates(all: readonly RecurringTask[]): Promise<ReadonlyMap<string, readonly Date[]>> {
    const living = all.filter(({ endedAt }) => endedAt === undefined);
    if (living.length === 0) return new Map();
    const { followingOccurrences } = await import('./occurrences.ts');
    return new Map(
      living.map((recurring) => {
        const { latestDue: due, latestOn: on } = recurring;
        const next = followingOccurrences(recurring, { due, on }, SHOWN_AHEAD);
        return [recurring.id, next.map((occurrence) => occurrence.due)];
      }),
    );
  }

  private replace<Outcome>(
    ownerUid: string,
    id: string,
    { change, outcomeOf }: Replacing<Outcome>,
    recordAnswer: RecordAnswer<Outcome>,
  ): Promise<Outcome> {
    const { randomness, store, recurringTasks } = this.ports;
    return retryStale(randomness, async () => {
      const found = await readFor(ownerUid, recurringTasks.find(id));
      if (found?.value.ownerUid !== ownerUid || found.value.endedAt)
        throw notFound('Recurring task', id, ownerUid);
      const recurringTask = change(found.value);
      const outcome = outcomeOf(recurringTask, found.value);
      await store.commit([replacement(recurringTask, found)], recordAnswer(outcome));
      return outcome;
    });
  }
}

interface Replacing<Outcome> {
  readonly change: (recurring: RecurringTask) => RecurringTask;
  readonly outcomeOf: (recurring: RecurringTask, before: RecurringTask) => Outcome;
}

function edited(
  recurring: RecurringTask,
  edit: RecurringEdit,
  { inTimezone, lastInstant }: Calendar,
): RecurringTask {
  const { description: _, endDate: _end, localStart: _start, ...rest } = recurring;
  const { frequency = rest.frequency, timezone = rest.timezone } = edit;
  const checked = checkedTexts(edit, recurring);
  checkTimezone(timezone);
  const { anchor, localStart, endDate: movedEnd } = inTimezone(recurring, timezone);
  // An end that the caller does not name means what it has meant before.
  const { endDate = movedEnd } = edit;
  const requested = { anchor, frequency, timezone, endDate: endDate ?? undefined };
  const rule = recurrenceRule(requested, edit.endDate ? lastInstant : undefined);
  return { ...rest, ...checked, ...rule, ...(localStart !== undefined && { localStart }) };
}

export function replacement(recurringTask: RecurringTask, found: Versioned<RecurringTask>): TodoChange {
  return { kind: 'replaceRecurringTask', recurringTask, before: found.value, version: found.version };
}

/** The id of the to-do of a recurring task's latest occurrence. It does not depend on who creates the to-do. */
export function latestId({ id, latestOn }: RecurringTask): string {
  return `${id}_${latestOn}`;
}

/** The to-do of a recurring task's latest occurrence. */
export function latestOccurrence(recurring: RecurringTask, createdAt: Date): Todo {
  const { id, ownerUid, title, description, priority, tags, latestOn, latestDue } = recurring;
  return {
    id: latestId(recurring),
    ownerUid,
    title,
    ...(description !== undefined && { description }),
    dueDate: latestDue,
    priority,
    tags,
    completed: false,
    createdAt,
    recurringTaskId: id,
    occursOn: latestOn,
  };
}

interface FollowingOccurrence {
  readonly next?: Todo;
  readonly changes: readonly TodoChange[];
}

/**
 * The occurrence that follows a to-do which was completed or deleted at `now`, and the changes that make it. Only
 * the end of a recurring task's latest occurrence makes the next, and the commit changes the recurring task at the
 * version that it was read at: of two at once, one fails.
 */
export async function followingOccurrence(
  ports: TodoPorts,
  { ownerUid, dueDate, recurringTaskId, occursOn }: Todo,
  now: Date,
): Promise<FollowingOccurrence> {
  if (recurringTaskId === undefined || occursOn === undefined) return { changes: [] };
  const found = await ports.recurringTasks.find(recurringTaskId);
  if (found === undefined || !isLatest(found.value, ownerUid, occursOn)) return { changes: [] };
  const recurring = found.value;
  const after = new Date(Math.max(now.getTime(), dueDate?.getTime() ?? 0));
  const following = await occurrenceAfter(ports, { found, recurring, after, now });
  return following ?? { changes: [replacement({ ...recurring, endedAt: now }, found)] };
}

interface Advance {
  /** The recurring task as it is stored, and as it is to continue. */
  readonly found: Versioned<RecurringTask>;
  readonly recurring: RecurringTask;
  readonly after: Date;
  readonly now: Date;
}

/**
 * Advances a recurring task to the first occurrence after an instant that is not completed. One that exists already,
 * because the recurring task was set back, is taken as it is.
 * @returns undefined if the rule has no more occurrences
 */
export async function occurrenceAfter(
  ports: TodoPorts,
  { found, recurring, after, now }: Advance,
): Promise<FollowingOccurrence | undefined> {
  const { nextOccurrence } = await import('./occurrences.ts');
  let latest: Occurrence | undefined = nextOccurrence(recurring, after, recurring.latestOn);
  for (; latest !== undefined; latest = nextOccurrence(recurring, latest.due, latest.on)) {
    const advanced = { ...recurring, latestOn: latest.on, latestDue: latest.due };
    const next = latestOccurrence(advanced, now);
    const existing = (await ports.todos.find(next.id))?.value;
    if (existing?.completed) continue;
    if (existing) return { next: existing, changes: [replacement(advanced, found)] };
    return {
      next,
      changes: [
        replacement(advanced, found),
        ...creationChanges(next, await changeContext(ports, next, now, true)),
        ...(await guardChangesIfFree(ports, undefined, next)),
      ],
    };
  }
  return undefined;
}

function isLatest(recurring: RecurringTask, ownerUid: string, on: string): boolean {
  return recurring.endedAt === undefined && recurring.ownerUid === ownerUid && recurring.latestOn === on;
}
