/** A year of recurring to-dos, day by day, held against calendars written by hand. */
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
import type { TaskEvent, TaskEventType } from '../../../functions/src/toolsets/todo/rules/outbox.ts';
import { eventFromDocument } from '../../../functions/src/toolsets/todo/store/events.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The first noon is the eve of 2028, a leap year, and the last its last day. */
const BEGIN = '2027-12-31T12:00:00Z';
const DAYS = 366;

interface Task {
  readonly title: string;
  readonly frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY';
  readonly anchor: string;
  readonly timezone: string;
  /** When occurrences are due: the year's, and the first after it. */
  readonly calendar: readonly string[];
}

/**
 * Every so many days up to New Year.
 * @param clocks what the clocks show, from which day on
 */
function everyDays(count: number, clocks: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(clocks);
  const dates: string[] = [];
  for (let at = Date.parse(String(entries[0]?.[0])); at <= Date.parse('2029-01-01'); at += count * DAY) {
    const date = new Date(at).toISOString().slice(0, 10);
    const [, shown] = entries.findLast(([from]) => from <= date) ?? [];
    dates.push(`${date}T${shown}`);
  }
  return dates;
}

const TASKS: readonly Task[] = [
  {
    title: 'Pay the rent',
    frequency: 'MONTHLY',
    anchor: '2028-01-31T09:00Z',
    timezone: 'UTC',
    calendar: [
      '2028-01-31T09:00Z',
      '2028-02-29T09:00Z',
      '2028-03-31T09:00Z',
      '2028-04-30T09:00Z',
      '2028-05-31T09:00Z',
      '2028-06-30T09:00Z',
      '2028-07-31T09:00Z',
      '2028-08-31T09:00Z',
      '2028-09-30T09:00Z',
      '2028-10-31T09:00Z',
      '2028-11-30T09:00Z',
      '2028-12-31T09:00Z',
      '2029-01-31T09:00Z',
    ],
  },
  {
    title: 'Put the bins out, on Mondays',
    frequency: 'WEEKLY',
    anchor: '2028-01-03T08:00Z',
    timezone: 'UTC',
    calendar: everyDays(7, { '2028-01-03': '08:00Z' }),
  },
  {
    title: 'Back up, in an hour that comes twice',
    frequency: 'DAILY',
    anchor: '2028-01-01T01:30-05:00',
    timezone: 'America/New_York',
    calendar: everyDays(1, {
      '2028-01-01': '01:30-05:00',
      '2028-03-13': '01:30-04:00',
      '2028-11-06': '01:30-05:00',
    }),
  },
  {
    title: 'Back up, in an hour that is left out and comes twice',
    frequency: 'DAILY',
    anchor: '2028-01-01T02:30+01:00',
    timezone: 'Europe/Berlin',
    calendar: everyDays(1, {
      '2028-01-01': '02:30+01:00',
      '2028-03-26': '03:30+02:00',
      '2028-03-27': '02:30+02:00',
      '2028-10-30': '02:30+01:00',
    }),
  },
  {
    title: 'Back up, in half an hour that is left out',
    frequency: 'DAILY',
    anchor: '2028-01-01T02:15+11:00',
    timezone: 'Australia/Lord_Howe',
    calendar: everyDays(1, {
      '2028-01-01': '02:15+11:00',
      '2028-04-02': '02:15+10:30',
      '2028-10-01': '02:45+11:00',
      '2028-10-02': '02:15+11:00',
    }),
  },
];

describe('a year of recurring to-dos', () => {
  const ownerUid = `person-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'year-'));
  /** A project of its own: no trigger and no other test sees these thousands of documents. */
  const projectId = `demo-year-${randomUUID().slice(0, 8)}`;
  const database = new Firestore({ projectId });
  /** What happened to each occurrence, in no order. */
  const occurrences = new Map<string, TaskEvent[]>();

  before(async function () {
    this.timeout('15m'); // half a minute where nothing else runs
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
  function occurrencesOf({ title }: Task): readonly (readonly TaskEvent[])[] {
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
function afterOf(type: TaskEventType, events: readonly TaskEvent[]): JsonObject | null | undefined {
  return events.find((event) => event.type === type)?.after;
}

function dueOf(events: readonly TaskEvent[]): number {
  return Date.parse(String(afterOf('created', events)?.['due_date']));
}
