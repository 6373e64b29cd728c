import { z } from 'zod';
import { MusterError } from '../../kernel/errors.ts';
import { fitsResponse } from '../../kernel/json.ts';
import { type ResourceTemplate, templatesFor } from '../../mcp/resource.ts';
import type { EventSource, ServerSentEvent, Toolset } from '../../mcp/tool.ts';
import type { FirebaseServices } from './create.ts';
import type { Reading } from './rules/page.ts';
import { EVENT_METHOD, notificationOf, withinResponse } from './rules/subscription.ts';
import { read, write } from './tools/data.ts';
import { subscriptionId } from './tools/dataResponses.ts';
import { pollEvents, subscribe, unsubscribe } from './tools/subscriptions.ts';

/** Clients can watch this resource through MCP's `subscriptions/listen`. */
const subscription = templatesFor<FirebaseServices>()({
  uriTemplate: 'firebase://subscriptions/{subscriptionId}',
  name: 'subscription',
  title: 'Subscription',
  description:
    "Your subscription's oldest remaining events, and the cursor for firebase.pollEvents. Watch this resource with subscriptions/listen.",
  mimeType: 'application/json',
  role: 'viewer',
  variables: z.strictObject({ subscriptionId }),
  read: async ({ services, caller }, { subscriptionId: id }) => {
    const { events, cursor, overflow } = await services.subscriptions.poll(caller, { subscriptionId: id }, 0);
    return JSON.stringify({
      subscriptionId: id,
      events: events.map(({ event }) => withinResponse(event, fitsResponse)),
      cursor,
      overflow,
    });
  },
  watch: async ({ services, caller, disconnectSignal }, { subscriptionId: id }) => {
    const { subscriptions } = services;
    const first = await subscriptions.poll(caller, { subscriptionId: id }, 0);
    return changes(
      first,
      subscriptions.follow(caller, { subscriptionId: id, cursor: first.cursor }, disconnectSignal()),
    );
  },
});

export const templates: readonly ResourceTemplate<FirebaseServices>[] = [subscription];

/**
 * Event streams of `/mcp/events`: `firebase.event` notifications of one subscription, with cursors as event ids.
 * Source: docs/guides/events.md#server-sent-events; the network specification.
 */
export const eventSource: EventSource<FirebaseServices> = {
  name: 'firebase.events',
  /** A client that reconnects sends the original cursor and its last event id, which is newer and therefore used. */
  request(query, lastEventId) {
    const subscriptionId = query.get('subscriptionId') ?? '';
    if (subscriptionId === '')
      throw new MusterError('REQUIRED_FIELD', 'Missing query parameter subscriptionId.', {
        field: 'subscriptionId',
        reason: 'MISSING',
        suggestion: 'Add ?subscriptionId=… with the id you passed to firebase.subscribe.',
      });
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

/** Tools that access data with the caller's rights. Source: the network specification, "Firebase Tools". */
export const firebase: Toolset<FirebaseServices> = {
  name: 'firebase',
  instructions:
    'firebase.read and firebase.write act with your rights under the security rules; messages/ and shared/ are free-form. firebase.subscribe starts a change log; firebase.pollEvents reads it.',
  tools: [read, write, subscribe, unsubscribe, pollEvents],
  resources: [],
  templates,
  events: eventSource,
};

/** Yields the existing events that the client may not have received yet, then new ones. */
async function* changes(first: Reading, following: AsyncIterable<Reading>): AsyncGenerator<Reading> {
  if (first.events.length > 0 || first.overflow) yield first;
  yield* following;
}

function eventsOf(subscriptionId: string, { events, cursor: end, overflow }: Reading): ServerSentEvent[] {
  // After an overflow, a client that reconnects continues after the first event or, without events, after this id.
  const id = events.length === 0 ? { id: end } : {};
  return [
    ...(overflow ? [{ event: 'overflow', ...id, data: JSON.stringify({ subscriptionId }) }] : []),
    ...events.map(({ cursor, event }) => ({
      id: cursor,
      data: JSON.stringify({ jsonrpc: '2.0', method: EVENT_METHOD, params: notificationOf(event) }),
    })),
  ];
}
