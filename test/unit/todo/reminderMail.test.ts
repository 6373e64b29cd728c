import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ConsoleLinks } from '../../../functions/src/kernel/consoleLinks.ts';
import { notificationOf } from '../../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import { reminderAt, reminderBefore } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { reminderEvent, sentReminder } from '../../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import { forAll } from '../../support/properties.ts';

const NOW = new Date('2026-02-10T12:00:00Z');
const MINUTE = 60_000;
const LINKS = new ConsoleLinks('https://console.example');
const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * MINUTE);
const todo = { id: 'todo-1', owner_uid: 'person-1', title: 'Water the plants' };

describe('reminders by email', () => {
  it('are due one hour or the chosen time before the due date, or now if that time has passed', () => {
    assert.deepEqual(reminderBefore(todo, later(90), NOW).remind_at, later(30));
    assert.deepEqual(reminderBefore(todo, later(30), NOW).remind_at, NOW);
    assert.deepEqual(reminderBefore(todo, later(30), NOW, 10 * MINUTE).remind_at, later(20));
  });

  it('are late if they are sent more than two minutes after they were due', () => {
    const reminder = reminderAt(todo, NOW);
    assert.equal(sentReminder(reminder, later(2)).late, undefined);
    assert.equal(sentReminder(reminder, new Date(later(2).getTime() + 1)).late, true);
  });

  it('cause one event for each time at which they are due', () => {
    const eventId = (remindAt: Date, now: Date): string => {
      const reminder = reminderAt(todo, remindAt);
      return reminderEvent(reminder, sentReminder(reminder, now), now).id;
    };
    assert.equal(eventId(NOW, NOW), eventId(NOW, later(5)));
    assert.notEqual(eventId(NOW, NOW), eventId(later(1), later(1)));
  });
});

describe('notifications about to-dos', () => {
  const reported = (title: string) => {
    const reminder = reminderAt({ ...todo, title }, NOW);
    return notificationOf(reminderEvent(reminder, sentReminder(reminder, NOW), NOW), LINKS);
  };

  it('have one line of at most 200 characters, for any title', () => {
    forAll(fc.string({ unit: 'binary', maxLength: 600 }), (title) => {
      const line = reported(title)?.title ?? '';
      assert.doesNotMatch(line, /[\p{Cc}\p{Zl}\p{Zp}]/u);
      assert.ok([...line].length <= 200);
    });
    assert.equal(reported('Plants\r\n and\tflowers ')?.title, 'Plants and flowers');
  });

  it('state that the reminder is late', () => {
    const reminder = reminderAt(todo, NOW);
    const event = reminderEvent(reminder, sentReminder(reminder, later(60)), later(60));
    assert.match(notificationOf(event, LINKS)?.body ?? '', /is late/);
    assert.doesNotMatch(reported('Plants')?.body ?? '', /is late/);
  });

  it('exist only for events of the type reminder', () => {
    const reminder = reminderAt(todo, NOW);
    const event = reminderEvent(reminder, sentReminder(reminder, NOW), NOW);
    assert.equal(notificationOf({ ...event, type: 'updated' }, LINKS), undefined);
  });
});
