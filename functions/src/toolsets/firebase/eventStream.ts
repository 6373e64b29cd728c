/**
 * What `/mcp/events` streams: the `firebase.event` notifications of one subscription, with cursors as their ids.
 * Source: docs/guides/events.md#server-sent-events; spec/network.md, "firebase.subscribe".
 */

import { MusterError } from '../../kernel/errors.ts';
import type { EventSource, ServerSentEvent } from '../../mcp/tool.ts';
import type { Reading } from './rules/page.ts';
import { EVENT_METHOD, notificationOf } from './rules/subscription.ts';

export const eventSource: EventSource = {
  name: 'firebase.events',
  /** What the client has received last goes before what its URL says, since a client that comes back has both. */
  request(query, lastEventId) {
    const subscriptionId = query.get('subscriptionId') ?? '';
    if (subscriptionId === '') {
      throw new MusterError('REQUIRED_FIELD', 'The query names no subscription.', {
        field: 'subscriptionId',
        reason: 'MISSING',
        suggestion: 'Add ?subscriptionId=… with the id that you gave to firebase.subscribe.',
      });
    }
    const from = { subscriptionId, cursor: lastEventId || query.get('cursor') || undefined };
    return async ({ subscriptions }, caller, end) => {
      const first = await subscriptions.poll(caller, from, 0, end);
      async function* following() {
        const readings = subscriptions.follow(caller, { subscriptionId, cursor: first.cursor }, end);
        for await (const reading of readings) yield eventsOf(subscriptionId, reading);
      }
      return { first: eventsOf(subscriptionId, first), following: following() };
    };
  },
};

function eventsOf(subscriptionId: string, { events, cursor: end, overflow }: Reading): ServerSentEvent[] {
  // Where events follow an overflow, the first of them says where to go on.
  const id = events.length === 0 ? { id: end } : {};
  const lost = { event: 'overflow', ...id, data: JSON.stringify({ subscriptionId }) };
  return [
    ...(overflow ? [lost] : []),
    ...events.map(({ cursor, event }) => ({
      id: cursor,
      data: JSON.stringify({ jsonrpc: '2.0', method: EVENT_METHOD, params: notificationOf(event) }),
    })),
  ];
}
