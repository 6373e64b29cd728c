/** Recurring tasks as Firestore keeps them. */
import { z } from 'zod';
import { FREQUENCIES } from '../../domain/recurrence/rule.ts';
import type { RecurringTask } from '../../domain/todos/recurringTask.ts';
import { PRIORITIES } from '../../domain/todos/todo.ts';
import { documentCodec } from './codec.ts';
import { timestamp } from './timestamp.ts';

const codec = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    title: z.string(),
    description: z.string().nullable(),
    priority: z.enum(PRIORITIES),
    tags: z.array(z.string()),
    frequency: z.enum(FREQUENCIES),
    start_date: timestamp,
    end_date: timestamp.nullable(),
    timezone: z.string(),
    created_at: timestamp,
    latest_on: z.string(),
    latest_due: timestamp,
    /** Beside `ended_at` for queries. */
    ended: z.boolean(),
    ended_at: timestamp.nullable(),
  }),
  { start_date: 'anchor' },
);

export function recurringTaskToDocument(recurring: RecurringTask): Record<string, unknown> {
  const { rule, latest, endedAt } = recurring;
  return codec.toDocument({
    ...recurring,
    ...rule,
    latestOn: latest.on,
    latestDue: latest.due,
    ended: endedAt !== undefined,
  });
}

export function recurringTaskFromDocument(data: unknown): RecurringTask {
  const { frequency, anchor, timezone, endDate, latestOn, latestDue, ended, ...recurring } =
    codec.fromDocument(data);
  return {
    ...recurring,
    rule: { frequency, anchor, timezone, ...(endDate && { endDate }) },
    latest: { on: latestOn, due: latestDue },
  };
}
