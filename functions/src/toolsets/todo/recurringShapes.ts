/** Arguments and answers of the tools for recurring tasks. */
import { z } from 'zod';
import { FREQUENCIES } from '../../domain/recurrence/rule.ts';
import type { RecurringTask } from '../../domain/todos/recurringTask.ts';

/** What it may be is checked where it has a code of its own: INVALID_FREQUENCY. */
export const frequency = (text: string) =>
  z
    .string()
    .meta({ enum: [...FREQUENCIES] })
    .describe(text);

export const timezone = z
  .string()
  .refine((text) => text.length <= 100, 'expected at most 100 characters')
  .optional()
  .describe('IANA zone whose wall-clock hour is kept; UTC by default');

const time = z.iso.datetime();

export const recurringTaskShape = z
  .object({
    id: z.string(),
    title: z.string(),
    frequency: z.string(),
    start_date: time,
    end_date: time,
    next_occurrence: time.describe('When the occurrence that there is now is due, as the rule has it.'),
    description: z.string(),
    priority: z.string(),
    tags: z.array(z.string()),
    timezone: z.string(),
    created_at: time,
    ended_at: time,
  })
  .partial();

export function recurringTaskAnswer(recurring: RecurringTask) {
  const { rule, description, endedAt } = recurring;
  return {
    id: recurring.id,
    title: recurring.title,
    ...(description !== undefined && { description }),
    frequency: rule.frequency,
    start_date: rule.anchor.toISOString(),
    ...(rule.endDate && { end_date: rule.endDate.toISOString() }),
    timezone: rule.timezone,
    priority: recurring.priority,
    tags: [...recurring.tags],
    created_at: recurring.createdAt.toISOString(),
    ...(endedAt
      ? { ended_at: endedAt.toISOString() }
      : { next_occurrence: recurring.latest.due.toISOString() }),
  };
}

export const writtenRecurringShape = z
  .object({ success: z.boolean(), recurring_task: recurringTaskShape, message: z.string() })
  .partial();
