import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change } from '../../../functions/src/composition/changes.ts';

import {
  DEFAULT_LEAD_MS,
  type Reminder,
  reminderAt,
  reminderBefore,
} from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { sentReminder } from '../../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import type { Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { reminderChanges } from '../../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { START as NOW, sampleTodo, secondsAfterStart, versionOf } from '../../support/builders.ts';
import { forAll } from '../../support/properties.ts';

const HOUR = 3_600_000;
const DAYS_OF_LEAD = 28;
const inHours = (hours: number): Date => secondsAfterStart(hours * 3600);
const undated = sampleTodo();
const due = sampleTodo({ due_date: inHours(24) });
const moved = { ...due, due_date: inHours(48) };
const done = { ...due, completed: true, completed_at: NOW };
const own = reminderBefore(due, inHours(24), NOW);

const changes = (before: Todo | undefined, after: Todo, reminder?: Reminder, leadMilliseconds?: number) =>
  reminderChanges(before, after, reminder && versionOf(reminder), {
    now: NOW,
    ...(leadMilliseconds !== undefined && { leadMilliseconds }),
  });

const remindsAt = ([change, ...more]: readonly Change[]): Date | undefined => {
  assert.deepEqual(more, []);
  return change?.kind === 'createReminder' || change?.kind === 'moveReminder' ? change.reminder.remind_at : undefined;
};

const kinds = (made: readonly Change[]): readonly string[] => made.map(({ kind }) => kind);

describe('reminder of a to-do', () => {
  it("is created with a due date, an hour or the owner's lead time before the due date", () => {
    assert.deepEqual(remindsAt(changes(undefined, due)), inHours(23));
    assert.deepEqual(remindsAt(changes(undefined, due, undefined, 2 * HOUR)), inHours(22));
    assert.deepEqual(remindsAt(changes(undefined, due, undefined, 0)), inHours(24));
    assert.deepEqual(remindsAt(changes(undefined, due, undefined, 48 * HOUR)), NOW);
    assert.deepEqual(remindsAt(changes(undated, due)), inHours(23));
    assert.deepEqual(kinds(changes(undated, due)), ['createReminder']);
    assert.deepEqual(changes(undefined, undated), []);
  });

  it('moves with the due date, and keeps the lead time that the owner has set', () => {
    assert.deepEqual(remindsAt(changes(due, moved, own)), inHours(47));
    assert.deepEqual(kinds(changes(due, moved, own)), ['moveReminder']);
    assert.deepEqual(remindsAt(changes(due, moved, reminderAt(due, inHours(20)))), inHours(44));
    assert.deepEqual(remindsAt(changes(due, { ...due, due_date: inHours(0.5) }, own)), NOW);
  });

  it('moves to the default time if it was sent before, or if it was set after the old due date', () => {
    const again = changes(due, moved, sentReminder(own, NOW), 2 * HOUR);
    assert.deepEqual(remindsAt(again), inHours(46));
    assert.ok(again[0]?.kind === 'moveReminder' && !again[0].reminder.sent);
    assert.deepEqual(remindsAt(changes(due, moved, reminderAt(due, inHours(30)))), inHours(47));
  });

  it('is not created again after the owner deleted it, except with the first due date', () => {
    assert.deepEqual(changes(due, moved), []);
    assert.deepEqual(kinds(changes(undated, moved)), ['createReminder']);
  });

  it('keeps a time that was set before the to-do had a due date, until it is sent', () => {
    const early = reminderAt(undated, inHours(2));
    assert.deepEqual(changes(undated, due, early), []);
    const [renamed] = changes(undated, { ...due, title: 'Another' }, early);
    assert.ok(renamed?.kind === 'moveReminder');
    assert.deepEqual(renamed.reminder, { ...early, task_title: 'Another' });
    assert.deepEqual(remindsAt(changes(undated, due, sentReminder(early, NOW))), inHours(23));
  });

  it('is deleted if the due date is removed or the to-do is completed', () => {
    const missing = [{ kind: 'deleteReminder', id: due.id }];
    assert.deepEqual(changes(due, undated, own), missing);
    assert.deepEqual(changes(due, done, own), missing);
    assert.deepEqual(changes(undated, { ...undated, completed: true, completed_at: NOW }), missing);
    assert.deepEqual(changes(done, { ...done, title: 'Another' }), []);
    assert.deepEqual(kinds(changes(done, due)), ['createReminder']);
  });

  it('contains the title of the to-do, and does not depend on its priority, tags and description', () => {
    const [renamed] = changes(due, { ...due, title: 'Another' }, own);
    assert.ok(renamed?.kind === 'moveReminder');
    assert.deepEqual(renamed.reminder, { ...own, task_title: 'Another' });
    assert.deepEqual(changes(due, { ...due, title: 'Another' }, sentReminder(own, NOW)), []);
    assert.deepEqual(changes(due, { ...due, priority: 'HIGH', tags: ['x'], description: 'y' }, own), []);
  });

  it("has the owner's lead time, and exists exactly while the to-do is open and has a due date", () => {
    const state = fc.record({
      isDue: fc.boolean(),
      hours: fc.integer({ min: DAYS_OF_LEAD * 24, max: 10_000 }),
      completed: fc.boolean(),
    });
    const lead = fc.integer({ min: 0, max: DAYS_OF_LEAD * 24 * HOUR });
    forAll(fc.array(state, { minLength: 1 }), fc.option(lead, { nil: undefined }), (states, wanted) => {
      let before: Todo | undefined;
      let reminder: Reminder | undefined;
      for (const { isDue, hours, completed } of states) {
        const after = sampleTodo({ ...(isDue && { due_date: inHours(hours) }), completed });
        reminder = afterwards(reminder, changes(before, after, reminder, wanted));
        const at = inHours(hours).getTime() - (wanted ?? DEFAULT_LEAD_MS);
        assert.equal(reminder?.remind_at.getTime(), isDue && !completed ? at : undefined);
        before = after;
      }
    });
  });
});

/** Returns the reminder that results from the changes. */
function afterwards(reminder: Reminder | undefined, made: readonly Change[]): Reminder | undefined {
  return made.reduce<Reminder | undefined>(
    (_, change) => ('reminder' in change ? change.reminder : undefined),
    reminder,
  );
}
