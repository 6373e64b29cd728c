/** A person's reminders, as they ask for them. The to-dos' own commits make, move and remove the usual ones. */
import { MusterError } from '../errors.ts';
import type { Page, Slice } from '../readers.ts';
import { retryStale } from '../retry.ts';
import type { Settle, Versioned } from '../store.ts';
import { alreadyCompleted, inThePast, todoNotFound } from '../todos/errors.ts';
import type { TodoPorts } from '../todos/ports.ts';
import { readFor } from '../unreadable.ts';
import { type Reminder, reminderAt } from './reminder.ts';

/** What a clock that is a little behind may call the past. */
const GRACE_MILLISECONDS = 60_000;

export interface Reminders extends Slice<Reminder> {
  readonly total: number;
}

export class ReminderService {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /** Those that are still to be sent, the next first; or all, the latest first. */
  async list(ownerUid: string, isUpcoming: boolean, page: Page): Promise<Reminders> {
    const { reminders, clock } = this.ports;
    const now = clock.now();
    const [slice, total] = await Promise.all(
      isUpcoming
        ? [reminders.upcoming(ownerUid, now, page), reminders.countUpcoming(ownerUid, now)]
        : [reminders.list(ownerUid, page), reminders.count(ownerUid)],
    );
    return { ...slice, total };
  }

  /**
   * Sets the reminder of a to-do, whether it has one or not.
   * @throws MusterError NOT_FOUND, CONFLICT where the to-do is completed, VALIDATION_ERROR for a time that has passed
   */
  async set(ownerUid: string, todoId: string, remindAt: Date, settle: Settle<Reminder>): Promise<Reminder> {
    const { todos, store, clock } = this.ports;
    const todo = (await readFor(ownerUid, todos.find(todoId)))?.value;
    if (todo === undefined || todo.ownerUid !== ownerUid) throw todoNotFound(todoId, ownerUid);
    if (todo.completed) throw alreadyCompleted(todo);
    if (remindAt.getTime() < clock.now().getTime() - GRACE_MILLISECONDS)
      throw inThePast('remind_at', remindAt);
    const reminder = reminderAt(todo, remindAt);
    // Where the to-do is completed meanwhile, the reminder finds that out when it is to be sent.
    await store.commit([{ kind: 'createReminder', reminder }], settle(reminder));
    return reminder;
  }

  /**
   * Reminds again after some time from now, also of what was sent.
   * @throws MusterError NOT_FOUND
   */
  snooze(ownerUid: string, id: string, milliseconds: number, settle: Settle<Reminder>): Promise<Reminder> {
    const { store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const { value, version } = await this.own(ownerUid, id);
      const remindAt = new Date(clock.now().getTime() + milliseconds);
      const reminder = reminderAt({ id, ownerUid, title: value.taskTitle }, remindAt);
      await store.commit([{ kind: 'moveReminder', reminder, version }], settle(reminder));
      return reminder;
    });
  }

  /** @throws MusterError NOT_FOUND */
  async delete(ownerUid: string, id: string, settle: Settle<void>): Promise<void> {
    await this.own(ownerUid, id);
    await this.ports.store.commit([{ kind: 'deleteReminder', id }], settle());
  }

  private async own(ownerUid: string, id: string): Promise<Versioned<Reminder>> {
    const found = await readFor(ownerUid, this.ports.reminders.find(id));
    if (found !== undefined && found.value.ownerUid === ownerUid) return found;
    throw new MusterError('NOT_FOUND', `Reminder with ID '${id}' not found`, {
      field: 'reminder_id',
      value: id,
      reason: 'REMINDER_NOT_FOUND',
      suggestion: 'list_reminders tells the ids of your reminders; set_reminder makes one.',
      about: { reminder_id: id, user_id: ownerUid },
    });
  }
}
