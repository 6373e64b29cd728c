/** What reminders need of the world. */
import type { Page, Position, Slice } from '../readers.ts';
import type { Versioned } from '../store.ts';
import type { Remindable, Reminder } from './reminder.ts';

export interface ReminderReader {
  find(id: string): Promise<Versioned<Reminder> | undefined>;
  /** Those that are to be sent by `now`, longest ago first, and after which place there are more. */
  due(now: Date, page: Page): Promise<DueReminders>;
  /** A person's that are still to be sent, after `now`: the next first. */
  upcoming(ownerUid: string, now: Date, page: Page): Promise<Slice<Reminder>>;
  countUpcoming(ownerUid: string, now: Date): Promise<number>;
  /** All of a person's, the latest first. */
  list(ownerUid: string, page: Page): Promise<Slice<Reminder>>;
  count(ownerUid: string): Promise<number>;
}

export interface DueReminders {
  readonly reminders: readonly Versioned<Reminder>[];
  readonly next?: Position;
}

export interface RemindableTodo extends Remindable {
  readonly completed: boolean;
}

/** To-dos as far as reminders concern them. */
export interface RemindableTodos {
  find(todoId: string): Promise<Versioned<RemindableTodo> | undefined>;
}
