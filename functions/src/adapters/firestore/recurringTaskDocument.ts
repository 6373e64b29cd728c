/** Recurring tasks as Firestore keeps them. */
import { z } from 'zod';
import { FREQUENCIES } from '../../domain/recurrence/rule.ts';
import type { RecurringTask } from '../../domain/todos/recurringTask.ts';
import { PRIORITIES } from '../../domain/todos/todo.ts';
import { timestamp } from './timestamp.ts';

const recurringTaskDocument = z.object({
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
});

export function recurringTaskToDocument(recurring: RecurringTask): z.output<typeof recurringTaskDocument> {
  const { rule, latest } = recurring;
  return {
    id: recurring.id,
    owner_uid: recurring.ownerUid,
    title: recurring.title,
    description: recurring.description ?? null,
    priority: recurring.priority,
    tags: [...recurring.tags],
    frequency: rule.frequency,
    start_date: rule.anchor,
    end_date: rule.endDate ?? null,
    timezone: rule.timezone,
    created_at: recurring.createdAt,
    latest_on: latest.on,
    latest_due: latest.due,
    ended: recurring.endedAt !== undefined,
    ended_at: recurring.endedAt ?? null,
  };
}

export function recurringTaskFromDocument(data: unknown): RecurringTask {
  const stored = recurringTaskDocument.parse(data);
  return {
    id: stored.id,
    ownerUid: stored.owner_uid,
    title: stored.title,
    ...(stored.description !== null && { description: stored.description }),
    priority: stored.priority,
    tags: stored.tags,
    rule: {
      frequency: stored.frequency,
      anchor: stored.start_date,
      timezone: stored.timezone,
      ...(stored.end_date && { endDate: stored.end_date }),
    },
    createdAt: stored.created_at,
    latest: { on: stored.latest_on, due: stored.latest_due },
    ...(stored.ended_at && { endedAt: stored.ended_at }),
  };
}
