/** Recurring to-dos. Source: the to-do specification, create_recurring_task; docs/semantics.md#to-dos. */
import type { RecordResponse, Versioned } from '../../../../kernel/commit.ts';
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import { canonicalJson } from '../../../../kernel/json.ts';
import type { PageRequest } from '../../../../kernel/paging.ts';
import { readFor, Service } from '../../../../kernel/ports.ts';
import { guardChanges, guardChangesIfFree } from '../duplicateGuard.ts';
import type { TodoChange, TodoPorts } from '../ports.ts';
import { checkedTexts, notFound, requireFuture, type Todo, type WrittenTexts } from '../todo.ts';
import { changeContext, creationChanges, leadOf } from '../todoChanges.ts';
import {
  checkTimezone,
  type Occurrence,
  type RecurringTask,
  type RequestedRule,
  recurrenceRule,
} from './recurrenceRule.ts';

interface RecurringDraft extends WrittenTexts, RequestedRule {
  readonly reminder_lead_minutes?: number | undefined;
}

interface RecurringEdit extends WrittenTexts, Pick<RequestedRule, 'interval' | 'days' | 'timezone'> {
  readonly frequency?: string | undefined;
  readonly reminder_lead_minutes?: number | null | undefined;
  readonly end_date?: Date | null | undefined;
}

export interface StartedRecurrence {
  readonly recurringTask: RecurringTask;
  readonly first: Todo;
  readonly lastDue?: Date;
}

export interface EditedRecurringTask {
  readonly recurringTask: RecurringTask;
  readonly isChanged: boolean;
}

type Calendar = typeof import('./occurrences.ts');

/** Number of future due dates that a list shows per recurring to-do. */
const SHOWN_OCCURRENCES = 3;

export class RecurringTasks extends Service<TodoPorts> {
  /** @throws MusterError VALIDATION_ERROR; CONFLICT with the reason DUPLICATE_TASK */
  async create(ownerUid: string, draft: RecurringDraft, recordResponse: RecordResponse<StartedRecurrence>) {
    const { clock, randomness, store } = this.ports;
    const { firstOccurrence, lastInstant, lastOccurrence, startingOnItsDay } = await import('./occurrences.ts');
    const rule = startingOnItsDay(recurrenceRule(draft, lastInstant));
    const { reminder_lead_minutes } = draft;
    const checked = checkedTexts(draft);
    const last = lastOccurrence(rule);
    return retryOnConflict(randomness, async () => {
      const createdAt = clock.now();
      requireFuture('start_date', rule.start_date, createdAt);
      const { on: latestOn, due: latestDue } = firstOccurrence(rule);
      const latest = { latest_on: latestOn, latest_due: latestDue };
      const recurringTask = {
        id: randomness.uuid(),
        owner_uid: ownerUid,
        ...checked,
        ...rule,
        ...(reminder_lead_minutes !== undefined && { reminder_lead_minutes }),
        created_at: createdAt,
        ...latest,
      };
      const first = latestOccurrence(recurringTask, createdAt);
      const reserved = await guardChanges(this.ports, undefined, first);
      const created = creationChanges(first, await occurrenceContext(this.ports, recurringTask, first, createdAt));
      const creation = { recurringTask, first, ...(last && { lastDue: last.due }) };
      await store.commit(
        [{ kind: 'createRecurringTask', recurringTask }, ...created, ...reserved],
        recordResponse(creation),
      );
      return creation;
    });
  }

  /** Edits a recurring to-do, not its current occurrence. @throws MusterError NOT_FOUND; VALIDATION_ERROR */
  async edit(
    ownerUid: string,
    id: string,
    edit: RecurringEdit,
    recordResponse: RecordResponse<EditedRecurringTask>,
  ): Promise<EditedRecurringTask> {
    const calendar = await import('./occurrences.ts');
    return this.replace(ownerUid, id, (recurring) => edited(recurring, edit, calendar), recordResponse);
  }

  /** Ends a recurring to-do; its current occurrence stays open. @throws MusterError NOT_FOUND */
  end(ownerUid: string, id: string, recordResponse: RecordResponse<EditedRecurringTask>) {
    const { clock } = this.ports;
    return this.replace(ownerUid, id, (recurring) => ({ ...recurring, ended_at: clock.now() }), recordResponse);
  }

  list(ownerUid: string, withEnded: boolean, page: PageRequest) {
    return this.ports.recurringTasks.list(ownerUid, withEnded, page);
  }

  /** Returns the due dates that follow the current occurrence; none for ended recurring to-dos. */
  async followingDates(all: readonly RecurringTask[]): Promise<ReadonlyMap<string, readonly Date[]>> {
    const living = all.filter(({ ended_at }) => ended_at === undefined);
    if (living.length === 0) return new Map();
    const { followingOccurrences } = await import('./occurrences.ts');
    return new Map(
      living.map((recurring) => {
        const { latest_due: due, latest_on: on } = recurring;
        const next = followingOccurrences(recurring, { due, on }, SHOWN_OCCURRENCES);
        return [recurring.id, next.map((occurrence) => occurrence.due)];
      }),
    );
  }

  private replace(
    ownerUid: string,
    id: string,
    change: (recurring: RecurringTask) => RecurringTask,
    recordResponse: RecordResponse<EditedRecurringTask>,
  ): Promise<EditedRecurringTask> {
    const { randomness, store, recurringTasks } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await readFor(ownerUid, recurringTasks.find(id));
      if (found?.value.owner_uid !== ownerUid || found.value.ended_at) throw notFound('Recurring task', id, ownerUid);
      const recurringTask = change(found.value);
      const outcome = { recurringTask, isChanged: canonicalJson(recurringTask) !== canonicalJson(found.value) };
      await store.commit([replacement(recurringTask, found)], recordResponse(outcome));
      return outcome;
    });
  }
}

function edited(recurring: RecurringTask, edit: RecurringEdit, { inTimezone, lastInstant }: Calendar): RecurringTask {
  const { description: _, end_date: _end, local_start: _start, interval: _interval, days: _days, ...kept } = recurring;
  const { reminder_lead_minutes: _lead, ...rest } = kept;
  const { frequency = rest.frequency, timezone = rest.timezone } = edit;
  // Another frequency ends the rule of the old one: its interval and its days would mean something else.
  const former = frequency === rest.frequency ? recurring : undefined;
  const { interval = former?.interval, days = former?.days } = edit;
  const checked = checkedTexts(edit, recurring);
  checkTimezone(timezone);
  const { start_date: anchor, local_start, end_date: movedEnd } = inTimezone(recurring, timezone);
  // If the edit sets no end, the existing end keeps its wall-clock time in the new time zone.
  const { end_date = movedEnd } = edit;
  const { reminder_lead_minutes = recurring.reminder_lead_minutes } = edit;
  const requested = { start_date: anchor, frequency, interval, days, timezone, end_date: end_date ?? undefined };
  const rule = recurrenceRule(requested, edit.end_date ? lastInstant : undefined);
  const lead = typeof reminder_lead_minutes === 'number' && { reminder_lead_minutes };
  return { ...rest, ...checked, ...rule, ...lead, ...(local_start !== undefined && { local_start }) };
}

export function replacement(recurringTask: RecurringTask, found: Versioned<RecurringTask>): TodoChange {
  return { kind: 'replaceRecurringTask', recurringTask, before: found.value, version: found.version };
}

/** Returns the to-do id of the latest occurrence. It is the same for every caller that creates this occurrence. */
export function latestId({ id, latest_on }: RecurringTask): string {
  return `${id}_${latest_on}`;
}

/** Returns the latest occurrence as a new to-do. */
export function latestOccurrence(recurring: RecurringTask, createdAt: Date): Todo {
  const { id, owner_uid, title, description, priority, tags, latest_on, latest_due } = recurring;
  return {
    id: latestId(recurring),
    owner_uid,
    title,
    ...(description !== undefined && { description }),
    due_date: latest_due,
    priority,
    tags,
    completed: false,
    created_at: createdAt,
    recurring_task_id: id,
    occurs_on: latest_on,
  };
}

/** Returns the context of a new occurrence. Its recurring to-do may not be stored yet. */
async function occurrenceContext(ports: TodoPorts, recurring: RecurringTask, occurrence: Todo, now: Date) {
  const context = await changeContext(ports, occurrence, now, false);
  return { ...context, leadMilliseconds: await leadOf(ports, occurrence, recurring) };
}

interface FollowingOccurrence {
  readonly next?: Todo;
  readonly changes: readonly TodoChange[];
}

/**
 * Returns the occurrence that follows a to-do completed or deleted at `now`, and the changes that create it. Only the
 * latest occurrence has a following one. The commit also updates the recurring to-do at the version read, so that one
 * of two concurrent commits fails.
 */
export async function followingOccurrence(
  ports: TodoPorts,
  { owner_uid, due_date, recurring_task_id, occurs_on }: Todo,
  now: Date,
): Promise<FollowingOccurrence> {
  if (recurring_task_id === undefined || occurs_on === undefined) return { changes: [] };
  const found = await ports.recurringTasks.find(recurring_task_id);
  if (found === undefined) return { changes: [] };
  const { value: recurring } = found;
  const isLatest = recurring.owner_uid === owner_uid && recurring.latest_on === occurs_on;
  if (recurring.ended_at !== undefined || !isLatest) return { changes: [] };
  const after = new Date(Math.max(now.getTime(), due_date?.getTime() ?? 0));
  const following = await occurrenceAfter(ports, { found, recurring, after, now });
  return following ?? { changes: [replacement({ ...recurring, ended_at: now }, found)] };
}

interface Advance {
  readonly found: Versioned<RecurringTask>;
  readonly recurring: RecurringTask;
  readonly after: Date;
  readonly now: Date;
}

/**
 * Advances a recurring to-do to the first occurrence after an instant whose to-do is not completed. If that to-do
 * already exists, for example after an undo, it is used unchanged.
 * @returns undefined if the rule has no more occurrences
 */
export async function occurrenceAfter(
  ports: TodoPorts,
  { found, recurring, after, now }: Advance,
): Promise<FollowingOccurrence | undefined> {
  const { nextOccurrence } = await import('./occurrences.ts');
  let latest: Occurrence | undefined = nextOccurrence(recurring, after, recurring.latest_on);
  for (; latest !== undefined; latest = nextOccurrence(recurring, latest.due, latest.on)) {
    const advanced = { ...recurring, latest_on: latest.on, latest_due: latest.due };
    const next = latestOccurrence(advanced, now);
    const existing = (await ports.todos.find(next.id))?.value;
    if (existing?.completed) continue;
    if (existing) return { next: existing, changes: [replacement(advanced, found)] };
    return {
      next,
      changes: [
        replacement(advanced, found),
        ...creationChanges(next, await occurrenceContext(ports, advanced, next, now)),
        ...(await guardChangesIfFree(ports, undefined, next)),
      ],
    };
  }
  return undefined;
}
