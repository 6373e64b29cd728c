import { z } from 'zod';
import { partial } from '../../../mcp/tool.ts';
import type { RecurringTask } from '../rules/recurrenceRule.ts';
import { defineTool, reading, recurringTaskAnswer, recurringTaskShape } from './todoAnswers.ts';
import { cursor, fittingPage, pageLimit, pagesOf, pagesShape, timePageOf } from './todoLists.ts';

export const listRecurringTasks = defineTool({
  name: 'list_recurring_tasks',
  title: 'Recurring to-dos',
  description: 'Lists repeating to-dos, newest first.',
  input: z.strictObject({
    include_ended: z.boolean().default(false).describe('Also ended ones'),
    limit: pageLimit(),
    cursor,
  }),
  output: partial({
    recurring_tasks: z.array(
      recurringTaskShape.extend({
        following_occurrences: z
          .array(z.iso.datetime())
          .optional()
          .describe('When the next three after that are due, as the rule has them.'),
      }),
    ),
    total: z.int(),
    ...pagesShape,
  }),
  ...reading,
  example: {},
  handler: async ({ services, principal }, { include_ended, ...asked }) => {
    const question = { include_ended };
    const page = timePageOf(question, asked);
    const found = await services.recurringTasks.list(principal.owner_uid, include_ended, page);
    const following = await services.recurringTasks.followingDates(found.items);
    const answer = (recurring: RecurringTask) => {
      const dates = following.get(recurring.id) ?? [];
      return {
        ...recurringTaskAnswer(recurring),
        ...(dates.length > 0 && { following_occurrences: dates.map((date) => date.toISOString()) }),
      };
    };
    const { answers, end } = fittingPage(question, found, answer, ({ created_at }) => created_at);
    return { recurring_tasks: answers, total: found.total, ...pagesOf(found.total, asked), ...end };
  },
});
