/** Recurring to-dos, day by day, held against calendars written by hand. */
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
import { byDay } from '../../support/night.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * By day the weeks in which the clocks of all three zones are changed, and a month ends. All year is walked through by
 * `test/unit/todo/year.test.ts`, without what keeps it.
 */
const [BEGIN, DAYS] = byDay(['2028-03-10T12:00:00Z', 26], {
  // The first noon is the eve of 2028, a leap year, and the last its last day.
  night: ['2027-12-31T12:00:00Z', 366],
});

/** Those that are due in this time and the first after it, of which the first is the anchor. */
const TASKS: readonly CalendarTask[] = YEAR.map((task) => {
  const begin = Date.parse(BEGIN);
  const coming = task.calendar.filter((date) => Date.parse(date) > begin);
  const after = coming.findIndex((date) => Date.parse(date) > begin + DAYS * DAY);
  const calendar = coming.slice(0, after + 1);
  return { ...task, calendar, start_date: String(calendar[0]) };
});

describe('recurring to-dos, day by day,', () => {
  const ownerUid = `person-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'year-'));
  /** A project of its own: no trigger and no other test sees these thousands of documents. */
  const projectId = `demo-year-${randomUUID().slice(0, 8)}`;
  const database = new Firestore({ projectId });
  /** What happened to each occurrence, in no order. */
  const occurrences = new Map<string, TaskEvent[]>();

  before(async function () {
    this.timeout('15m'); // by night half a minute where nothing else runs
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

  /** The occurrences of a task, in the order of their due dates. */
  function occurrencesOf({ title }: CalendarTask): readonly (readonly TaskEvent[])[] {
    return [...occurrences.values()]
      .filter((events) => afterOf('created', events)?.['title'] === title)
      .sort((one, other) => dueOf(one) - dueOf(other));
  }

  for (const task of TASKS) {
    it(`${task.title}: is due when a calendar says so`, () => {
      assert.deepEqual(
        occurrencesOf(task).map((events) => new Date(dueOf(events))),
        task.calendar.map((date) => new Date(date)),
      );
    });

    it(`${task.title}: was reminded of once and completed once`, () => {
      const all = occurrencesOf(task);
      for (const [index, events] of all.entries()) {
        const types = events.map(({ type }) => type).sort();
        const isDone = index < all.length - 1;
        assert.deepEqual(types, isDone ? ['completed', 'created', 'reminder'] : ['created']);
      }
    });

    it(`${task.title}: was reminded of an hour before it was due`, () => {
      for (const events of occurrencesOf(task).slice(0, -1))
        assert.equal(Date.parse(String(afterOf('reminder', events)?.['remind_at'])), dueOf(events) - HOUR);
    });
  }

  it('leaves nothing else behind: a to-do for each day in the calendars, and a reminder for each open one', async () => {
    const days = TASKS.flatMap((task) => task.calendar).length;
    assert.equal((await database.collection(COLLECTIONS.todos).count().get()).data().count, days);
    assert.equal((await database.collection(COLLECTIONS.reminders).count().get()).data().count, TASKS.length);
  });
});

/** What the event of a type left behind. */
function afterOf(type: TaskEvent['type'], events: readonly TaskEvent[]): JsonObject | null | undefined {
  return events.find((event) => event.type === type)?.after;
}

function dueOf(events: readonly TaskEvent[]): number {
  return Date.parse(String(afterOf('created', events)?.['due_date']));
}
