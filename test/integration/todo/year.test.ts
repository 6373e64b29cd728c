/** Simulates recurring to-dos, one day at a time, and compares them with handwritten calendars. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Firestore } from '@google-cloud/firestore';
import { COLLECTIONS } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { TaskEvent } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { eventFromDocument } from '../../../functions/src/toolsets/todo/store/events.ts';
import { type CalendarTask, YEAR } from '../../support/calendars.ts';
import { defaultOrNightly } from '../../support/nightly.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Start and number of the simulated days. The default run covers the weeks in which all three time zones change their
 * clocks, and the end of a month. `test/unit/todo/year.test.ts` covers the whole year without the database.
 */
const [BEGIN, DAYS] = defaultOrNightly(['2028-03-10T12:00:00Z', 26], {
  // The first noon is on the day before 2028, which is a leap year. The last noon is on the last day of 2028.
  night: ['2027-12-31T12:00:00Z', 366],
});

/** The calendars, reduced to this period and one occurrence after it. The first date is the start date. */
const TASKS: readonly CalendarTask[] = YEAR.map((task) => {
  const begin = Date.parse(BEGIN);
  const coming = task.calendar.filter((date) => Date.parse(date) > begin);
  const after = coming.findIndex((date) => Date.parse(date) > begin + DAYS * DAY);
  const calendar = coming.slice(0, after + 1);
  return { ...task, calendar, start_date: String(calendar[0]) };
});

describe('recurring to-dos over simulated days', () => {
  const ownerUid = `person-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'year-'));
  /** A separate project, so that no trigger and no other test reads these thousands of documents. */
  const projectId = `demo-year-${randomUUID().slice(0, 8)}`;
  const database = new Firestore({ projectId });
  /** Events of each occurrence, in no particular order. */
  const occurrences = new Map<string, TaskEvent[]>();

  before(async function () {
    this.timeout('15m'); // The nightly run takes half a minute on an idle machine.
    const clockFile = join(folder, 'clock');
    const life = JSON.stringify({ ownerUid, clockFile, begin: BEGIN, days: DAYS, tasks: TASKS });
    const program = `${import.meta.dirname}/yearProgram.ts`;
    await promisify(execFile)(process.execPath, [program, life], {
      timeout: 14 * 60_000,
      env: { ...process.env, GCLOUD_PROJECT: projectId, GOOGLE_CLOUD_PROJECT: projectId },
    });
    const happened = await database.collection(COLLECTIONS.events).where('user_id', '==', ownerUid).get();
    for (const event of happened.docs.map((document) => eventFromDocument(document.data())))
      occurrences.set(event.taskId, [...(occurrences.get(event.taskId) ?? []), event]);
  });

  after(async () => {
    await database.terminate();
    rmSync(folder, { recursive: true });
  });

  /** Returns the events of each occurrence of the task. The occurrences are ordered by due date. */
  function occurrencesOf({ title }: CalendarTask): readonly (readonly TaskEvent[])[] {
    return [...occurrences.values()]
      .filter((events) => afterOf('created', events)?.['title'] === title)
      .sort((one, other) => dueOf(one) - dueOf(other));
  }

  for (const task of TASKS) {
    it(`${task.title}: each occurrence is due on the date in the calendar`, () => {
      const found = occurrencesOf(task).map((events) => new Date(dueOf(events)));
      const expected = task.calendar.map((date) => new Date(date));
      assert.deepEqual(found, expected);
    });

    it(`${task.title}: each past occurrence has one reminder and one completion`, () => {
      const all = occurrencesOf(task);
      for (const [index, events] of all.entries()) {
        const types = events.map(({ type }) => type).sort();
        const isDone = index < all.length - 1;
        assert.deepEqual(types, isDone ? ['completed', 'created', 'reminder'] : ['created']);
      }
    });

    it(`${task.title}: each reminder is one hour before the due date`, () => {
      for (const events of occurrencesOf(task).slice(0, -1))
        assert.equal(Date.parse(String(afterOf('reminder', events)?.['remind_at'])), dueOf(events) - HOUR);
    });
  }

  it('have one to-do per calendar date, and one reminder per open to-do', async () => {
    const days = TASKS.flatMap((task) => task.calendar).length;
    assert.equal((await database.collection(COLLECTIONS.todos).count().get()).data().count, days);
    assert.equal((await database.collection(COLLECTIONS.reminders).count().get()).data().count, TASKS.length);
  });
});

/** Returns the state of the to-do after its first event of this type. */
function afterOf(type: TaskEvent['type'], events: readonly TaskEvent[]): JsonObject | null | undefined {
  return events.find((event) => event.type === type)?.after;
}

function dueOf(events: readonly TaskEvent[]): number {
  return Date.parse(String(afterOf('created', events)?.['due_date']));
}
