/** Tools for the person who is asked: list and answer requests. */
import { z } from 'zod';
import { fittingItems } from '../../../kernel/json.ts';
import { decodeCursor, encodeCursor } from '../../../kernel/paging.ts';
import { reading, textUpTo, wholeNumber, writing } from '../../../mcp/tool.ts';
import { text } from '../../coordination/index.ts';
import { MAX_ANSWER, REQUEST_STATES } from '../rules/request.ts';
import { defineTool, requestId, requestResponse, requestShape, requestState } from './requestResponses.ts';

const SUGGESTION = 'Send next_cursor with the same box and state as before, or omit cursor to start over.';

export const list = defineTool({
  name: 'list',
  title: 'List requests',
  description: 'Lists requests to your owner (received) or made by you (sent), newest first.',
  input: z.strictObject({
    box: z.enum(['received', 'sent']).default('received').describe('Which'),
    state: requestState.optional().describe('State'),
    limit: wholeNumber(1, 100).default(20).describe('Maximum'),
    cursor: textUpTo(4000).optional().describe('Previous next_cursor'),
  }),
  output: z.object({ requests: z.array(requestShape), truncated: z.boolean(), next_cursor: z.string().optional() }),
  ...reading,
  example: { state: 'open' },
  handler: async ({ services, principal }, { box, state, limit, cursor }) => {
    const question = `${box} requests ${state ?? ''}`;
    const place = decodeCursor(question, cursor, SUGGESTION);
    const after = place && { at: new Date(place.order[0] ?? 0), id: place.id };
    const states = state === undefined ? REQUEST_STATES : [state];
    const page = { limit, ...(after && { after }) };
    const { items, more } = await services.inbox.answers.list(principal, box, states, page);
    const given = fittingItems(items, requestResponse);
    const last = given.at(-1);
    const truncated = more || given.length < items.length;
    return {
      requests: given.map(requestResponse),
      truncated,
      next_cursor:
        truncated && last ? encodeCursor(question, { order: [last.created_at.getTime()], id: last.id }) : undefined,
    };
  },
});

export const answer = defineTool({
  name: 'answer',
  title: 'Answer a request',
  description: 'For people: answers an open question or approval in your inbox, once.',
  details:
    "Answer an approval with approve or refuse, and a choice with one of its options. An agent can answer for its owner if agents_may_answer in the owner's preferences lists the agent, but it cannot answer its own requests. An answer cannot be undone.",
  input: z.strictObject({
    request_id: requestId,
    answer: text('An option, or text', MAX_ANSWER),
    comment: text('For the asker', 2000).optional(),
  }),
  output: requestShape,
  ...writing('viewer', { destructiveHint: false, idempotentHint: true }),
  example: { request_id: 'request-region', answer: 'us-central1' },
  response: requestResponse,
  handler: ({ services, principal, recordResponse }, { request_id: id, ...given }) =>
    services.inbox.answers.answer(principal, id, given, recordResponse),
});
