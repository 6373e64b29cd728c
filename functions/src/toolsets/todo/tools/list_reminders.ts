import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import { reminderAnswer } from '../rules/reminders.ts';
import { defineTool, reading, reminderShape } from './todoAnswers.ts';
import { cursor, fittingPage, MAX_LIMIT, pagesOf, pagesShape, timePageOf } from './todoLists.ts';

const limited = z
  .int()
  .refine((limit) => limit >= 1, 'expected a whole number from 1 to 100')
  .max(MAX_LIMIT)
  .default(10)
  .describe('How many');

export const listReminders = defineTool({
  name: 'list_reminders',
  title: 'Reminders',
  description: 'Lists upcoming reminders, the next first; with upcoming false all, the latest first.',
  input: z.strictObject({
    upcoming: z.boolean().default(true).describe('Only those to come'),
    limit: limited,
    cursor,
  }),
  output: partial({ reminders: z.array(reminderShape), total: z.int(), ...pagesShape }),
  ...reading,
  example: { upcoming: true, limit: 10 },
  handler: async ({ services, principal }, { upcoming, ...asked }) => {
    const page = timePageOf({ upcoming }, asked);
    const found = await services.reminders.list(principal.owner_uid, upcoming, page);
    const { answers, end } = fittingPage({ upcoming }, found, reminderAnswer, ({ remind_at }) => remind_at);
    return { reminders: answers, total: found.total, ...pagesOf(found.total, asked), ...end };
  },
});
