/**
 * A to-do with a due date has one reminder, with the same id, which moves with the due date. Completing or deleting
 * the to-do deletes the reminder. Source: the to-do specification, "list_reminders"; docs/semantics.md#to-dos.
 */
import { type RecordResponse, StaleWriteError, type Versioned } from '../../../../kernel/commit.ts';
import { ignoreStale, retryOnConflict } from '../../../../kernel/concurrency.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { chunksOf, type PageRequest, type TimeCursor } from '../../../../kernel/paging.ts';
import { readFor, Service } from '../../../../kernel/ports.ts';
import type { TodoChange, TodoPorts } from '../ports.ts';
import type { TaskEvent } from '../taskEvent.ts';
import { alreadyCompleted, notFound, requireFuture, type Todo } from '../todo.ts';
import { type Reminder, reminderAt } from './reminder.ts';

/** Delay after which a reminder counts as late. Reminders are sent every minute. */
const LATE_AFTER_MS = 2 * 60_000;

export function sentReminder(reminder: Reminder, now: Date): Reminder {
  const isLate = now.getTime() - reminder.remind_at.getTime() > LATE_AFTER_MS;
  return { ...reminder, sent: true, sent_at: now, ...(isLate && { late: true }) };
}

/** Returns the event of a due reminder. Its id is derived from the reminder, so duplicates are recognized. */
export function reminderEvent(before: Reminder, after: Reminder, now: Date): TaskEvent {
  return {
    id: `reminder-${before.id}-${before.remind_at.getTime()}`,
    type: 'reminder',
    taskId: before.task_id,
    userId: before.owner_uid,
    timestamp: now,
    before: reminderResponse(before),
    after: reminderResponse(after),
    changes: ['sent', 'sent_at', ...(after.late === true ? ['late'] : [])],
  };
}

/** Returns a reminder in the output format of the tools. */
export function reminderResponse(reminder: Reminder) {
  return {
    id: reminder.id,
    task_id: reminder.task_id,
    task_title: reminder.task_title,
    remind_at: reminder.remind_at.toISOString(),
    sent: reminder.sent,
    ...(reminder.sent_at && { sent_at: reminder.sent_at.toISOString() }),
    ...(reminder.late === true && { late: true }),
  } satisfies JsonObject;
}

/** Manages reminders that callers set. Default reminders change in the commits of their to-dos. */
export class ReminderService extends Service<TodoPorts> {
  /** If `isUpcoming`, returns a person's unsent reminders, soonest first; otherwise all reminders, latest first. */
  list(ownerUid: string, isUpcoming: boolean, page: PageRequest) {
    const { reminders, clock } = this.ports;
    return reminders.list(ownerUid, isUpcoming ? clock.now() : undefined, page);
  }

  /** Sets a reminder. @throws MusterError NOT_FOUND; CONFLICT if completed; VALIDATION_ERROR if in the past */
  set(ownerUid: string, todoId: string, remindAt: Date, recordResponse: RecordResponse<Reminder>) {
    const { todos, store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await readFor(ownerUid, todos.findReminded(todoId));
      if (found?.value.owner_uid !== ownerUid) throw notFound('Task', todoId, ownerUid);
      if (found.value.completed) throw alreadyCompleted(found.value);
      requireFuture('remind_at', remindAt, clock.now());
      const reminder = reminderAt(found.value, remindAt);
      // If the to-do is completed before the reminder is due, the sender detects this and sends nothing.
      await store.commit([{ kind: 'setReminder', reminder, before: found.reminder }], recordResponse(reminder));
      return reminder;
    });
  }

  /** Moves the reminder to `milliseconds` from now, even if it was already sent. @throws MusterError NOT_FOUND */
  snooze(ownerUid: string, id: string, milliseconds: number, recordResponse: RecordResponse<Reminder>) {
    const { store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const before = await this.own(ownerUid, id);
      const remindAt = new Date(clock.now().getTime() + milliseconds);
      const reminder = reminderAt({ id, owner_uid: ownerUid, title: before.value.task_title }, remindAt);
      await store.commit([{ kind: 'setReminder', reminder, before }], recordResponse(reminder));
      return reminder;
    });
  }

  /** @throws MusterError NOT_FOUND */
  delete(ownerUid: string, id: string, recordResponse: RecordResponse<void>): Promise<void> {
    const { store, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const before = await this.own(ownerUid, id);
      await store.commit([{ kind: 'cancelReminder', before }], recordResponse());
    });
  }

  private async own(ownerUid: string, id: string): Promise<Versioned<Reminder>> {
    const found = await readFor(ownerUid, this.ports.reminders.find(id));
    if (found?.value.owner_uid !== ownerUid) throw notFound('Reminder', id, ownerUid);
    return found;
  }
}

const READ_BATCH = 200;

/** Number of reminders per commit. Each needs two writes, and a commit can have at most 500 writes. */
export const SEND_BATCH = 50;

/** Maximum duration of a run, in milliseconds. The next minute's run continues. */
const TURN_MS = 45_000;

/**
 * Sends due reminders. A repeated, delayed or concurrent call is safe: a reminder is marked as sent in the commit
 * that stores its event, at the version read. So only one of two concurrent senders commits. If a sender crashes,
 * each reminder is either sent or still due.
 */
export async function sendReminders(ports: TodoPorts, milliseconds = TURN_MS): Promise<void> {
  const counts = { sent: 0, dropped: 0, taken: 0, failed: 0 };
  const end = performance.now() + milliseconds;
  const now = ports.clock.now();
  let after: TimeCursor | undefined;
  do {
    const { found, next } = await ports.reminders.due(now, { limit: READ_BATCH, after });
    const groups = chunksOf(found, SEND_BATCH).map((group) => group.map(({ item }) => item));
    const outcomes = await Promise.all(groups.map((group) => sendTogether(ports, group)));
    for (const outcome of outcomes.flat()) counts[outcome] += 1;
    after = next;
  } while (after !== undefined && performance.now() < end);
  ports.log.info('reminders_sent', { ...counts, isBehind: after !== undefined });
}

type Outcome = 'sent' | 'dropped' | 'taken' | 'failed';

/** Sends reminders in one commit. If this commit fails, sends each reminder in its own commit. */
async function sendTogether(ports: TodoPorts, reminders: readonly Versioned<Reminder>[]): Promise<readonly Outcome[]> {
  try {
    const todos = await ports.todos.findAll(reminders.map(({ value }) => value.task_id));
    const deliveries = reminders.map((reminder, index) => sendingOf(reminder, todos[index], ports.clock.now()));
    await ports.store.commit(deliveries.flatMap(({ changes }) => changes));
    return deliveries.map(({ outcome }) => outcome);
  } catch {
    return Promise.all(reminders.map((reminder) => trySend(ports, reminder)));
  }
}

async function trySend(ports: TodoPorts, reminder: Versioned<Reminder>): Promise<Outcome> {
  try {
    return await send(ports, reminder);
  } catch (error) {
    if (error instanceof StaleWriteError) return 'taken'; // Another sender or call changed the reminder.
    ports.log.error('reminder_failed', { reminderId: reminder.value.id, error });
    return 'failed';
  }
}

async function send(ports: TodoPorts, reminder: Versioned<Reminder>): Promise<Outcome> {
  const todo = await ports.todos.find(reminder.value.task_id);
  const { outcome, changes, event } = sendingOf(reminder, todo, ports.clock.now());
  if (await ignoreStale(ports.store.commit(changes))) return outcome;
  // If a sent reminder was set again to the same time, its event exists, so the reminder is only marked as sent.
  if (event !== undefined && (await ports.taskHistory.find(event.id)) !== undefined)
    await ports.store.commit(changes.slice(0, 1));
  return 'taken';
}

interface Sending {
  readonly outcome: Outcome;
  /** The change of the reminder, followed by its event if it is sent. */
  readonly changes: readonly TodoChange[];
  readonly event?: TaskEvent;
}

function sendingOf(
  { value: reminder, version }: Versioned<Reminder>,
  todo: Versioned<Todo> | undefined,
  now: Date,
): Sending {
  // A client may have completed or deleted the to-do directly, and the reminder is not deleted yet.
  if (todo === undefined || todo.value.completed)
    return { outcome: 'dropped', changes: [{ kind: 'deleteReminder', id: reminder.id, version }] };
  const sent = sentReminder(reminder, now);
  const event = reminderEvent(reminder, sent, now);
  const marking: TodoChange = { kind: 'moveReminder', reminder: sent, version };
  return { outcome: 'sent', changes: [marking, { kind: 'recordEvent', event }], event };
}
