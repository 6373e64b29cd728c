import { z } from 'zod';
import { defineTool, partial } from '../../../mcp/tool.ts';
import { cursor, fittingPage, pageLimit, pagesOf, pagesShape, timePageOf } from './listing.ts';
import { reading, recurringTaskAnswer, recurringTaskShape } from './shapes.ts';

export const listRecurringTasks = defineTool({
  name: 'list_recurring_tasks',
  title: 'Recurring to-dos',
  description: 'Lists repeating to-dos, newest first.',
  input: z.strictObject({
    include_ended: z.boolean().default(false).describe('Also ended ones'),
    limit: pageLimit(),
    cursor,
  }),
  output: partial({ recurring_tasks: z.array(recurringTaskShape), total: z.int(), ...pagesShape }),
  ...reading,
  example: {},
  handler: async ({ services, principal }, { include_ended, ...asked }) => {
    const question = { include_ended };
    const page = timePageOf(question, asked);
    const found = await services.recurringTasks.list(principal.ownerUid, include_ended, page);
    const { answers, end } = fittingPage(question, found, recurringTaskAnswer, ({ createdAt }) => createdAt);
    return { recurring_tasks: answers, total: found.total, ...pagesOf(found.total, asked), ...end };
  },
});
