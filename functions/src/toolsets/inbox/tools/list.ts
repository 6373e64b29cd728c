import { z } from 'zod';
import { fitting } from '../../../kernel/json.ts';
import { decodeCursor, encodeCursor } from '../../../kernel/paging.ts';
import { textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { REQUEST_STATES } from '../rules/request.ts';
import { defineTool, reading, requestAnswer, requestShape, requestState } from './requestAnswers.ts';

const SUGGESTION =
  'Send next_cursor with the same box and state as before, or leave the cursor out to start again.';

export const list = defineTool({
  name: 'list',
  title: 'List requests',
  description: 'What waits for your owner (received), or what you have asked (sent), newest first.',
  input: z.strictObject({
    box: z.enum(['received', 'sent']).default('received').describe('Which'),
    state: requestState.optional().describe('Of this state'),
    limit: wholeNumber(1, 100).default(20).describe('How many'),
    cursor: textUpTo(4000).optional().describe('The last next_cursor'),
  }),
  output: z.object({
    requests: z.array(requestShape),
    truncated: z.boolean(),
    next_cursor: z.string().optional(),
  }),
  annotations: reading,
  role: 'viewer',
  example: { state: 'open' },
  handler: async ({ services, principal }, { box, state, limit, cursor }) => {
    const question = `${box} requests ${state ?? ''}`;
    const place = decodeCursor(question, cursor, SUGGESTION);
    const after = place && { at: new Date(place.order[0] ?? 0), id: place.id };
    const states = state === undefined ? REQUEST_STATES : [state];
    const page = { limit, ...(after && { after }) };
    const { items, more } = await services.inbox.answers.list(principal, box, states, page);
    const given = fitting(items, requestAnswer);
    const last = given.at(-1);
    const truncated = more || given.length < items.length;
    return {
      requests: given.map(requestAnswer),
      truncated,
      next_cursor:
        truncated && last
          ? encodeCursor(question, { order: [last.created_at.getTime()], id: last.id })
          : undefined,
    };
  },
});
