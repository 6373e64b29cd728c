/** Recurring tasks as Firestore keeps them. */
import { z } from 'zod';
import type { Occurrence } from '../../domain/recurrence/occurrence.ts';
import { FREQUENCIES, type RecurrenceRule } from '../../domain/recurrence/rule.ts';
import type { RecurringTask } from '../../domain/todos/recurringTask.ts';
import { PRIORITIES } from '../../domain/todos/todo.ts';
import { type DocumentCodec, documentCodec } from './codec.ts';
import { timestamp } from './timestamp.ts';

const codec = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    priority: z.enum(PRIORITIES),
    tags: z.array(z.string()),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
  }),
);

const rules: DocumentCodec<RecurrenceRule> = documentCodec(
  z.object({
    frequency: z.enum(FREQUENCIES),
    start_date: timestamp,
    end_date: timestamp.nullable(),
    timezone: z.string(),
  }),
  { start_date: 'anchor' },
);

const latest: DocumentCodec<Occurrence> = documentCodec(
  z.object({ latest_on: z.string(), latest_due: timestamp }),
  { latest_on: 'on', latest_due: 'due' },
);

export function recurringTaskToDocument(recurring: RecurringTask): Record<string, unknown> {
  return {
    ...codec.toDocument(recurring),
    ...rules.toDocument(recurring.rule),
    ...latest.toDocument(recurring.latest),
    // Beside `ended_at` for queries.
    ended: recurring.endedAt !== undefined,
  };
}

export function recurringTaskFromDocument(data: unknown): RecurringTask {
  return {
    ...codec.fromDocument(data),
    rule: rules.fromDocument(data),
    latest: latest.fromDocument(data),
  };
}
