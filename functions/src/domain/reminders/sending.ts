/**
 * Sends what is due. Sending is one commit: the reminder is marked as sent, at the version that was read, and its
 * event is put into the outbox under an id made of the reminder and its time. So of two senders at once one
 * commits; and one that dies has either sent a reminder or left it due.
 */
import type { Position } from '../readers.ts';
import { StaleWriteError, type Versioned } from '../store.ts';
import type { TodoPorts } from '../todos/ports.ts';
import { type Reminder, reminderEvent, sentReminder } from './reminder.ts';

/** Reminders that are read and sent together. */
const BATCH = 50;

/** Batches of one run: the next minute's goes on with the rest. */
const MOST_BATCHES = 20;

type Outcome = 'sent' | 'dropped' | 'taken' | 'failed';

export class ReminderSending {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /** Safe to run twice, late, or in several instances at once. */
  async run(): Promise<void> {
    const counts: Record<Outcome, number> = { sent: 0, dropped: 0, taken: 0, failed: 0 };
    const now = this.ports.clock.now();
    let after: Position | undefined;
    for (let batch = 0; batch < MOST_BATCHES; batch++) {
      const page = { limit: BATCH, ...(after && { after }) };
      const { reminders, next } = await this.ports.reminders.due(now, page);
      const outcomes = await Promise.all(reminders.map((reminder) => this.trySend(reminder)));
      for (const outcome of outcomes) counts[outcome] += 1;
      if (next === undefined) break;
      after = next;
    }
    this.ports.log.info('reminders_sent', counts);
  }

  private async trySend(reminder: Versioned<Reminder>): Promise<Outcome> {
    try {
      return await this.send(reminder);
    } catch (error) {
      if (error instanceof StaleWriteError) return 'taken'; // sent, moved or deleted by somebody else meanwhile
      this.ports.log.error('reminder_failed', { reminderId: reminder.value.id, error });
      return 'failed';
    }
  }

  private async send({ value: reminder, version }: Versioned<Reminder>): Promise<Outcome> {
    const { store, clock, todos, taskEvents } = this.ports;
    const todo = await todos.find(reminder.taskId);
    // A client may have completed or deleted it past the tools, and nothing has repaired that yet.
    if (todo === undefined || todo.value.completed) {
      await store.commit([{ kind: 'deleteReminder', id: reminder.id, version }]);
      return 'dropped';
    }
    const now = clock.now();
    const sent = sentReminder(reminder, now);
    const event = reminderEvent(reminder, sent, now);
    try {
      await store.commit([
        { kind: 'moveReminder', reminder: sent, version },
        { kind: 'recordEvent', event },
      ]);
      return 'sent';
    } catch (error) {
      if (!(error instanceof StaleWriteError)) throw error;
      // It may have been set once more to the very time at which it was sent: that is one reminder.
      if ((await taskEvents.find(event.id)) === undefined) return 'taken';
      await store.commit([{ kind: 'moveReminder', reminder: sent, version }]);
      return 'taken';
    }
  }
}
