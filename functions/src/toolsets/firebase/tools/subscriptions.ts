/** Tools that subscribe to a path, read its events, and unsubscribe. Source: the network specification. */
import { z } from 'zod';
import { fitsResponse } from '../../../kernel/json.ts';
import { reading, writing } from '../../../mcp/tool.ts';
import { EVENT_METHOD, EVENT_TYPES, withinResponse } from '../rules/subscription.ts';
import type { SubscriptionState } from '../rules/subscriptionService.ts';
import {
  database,
  defineTool,
  initialDataOf,
  listedSubscriptionId,
  path,
  structured,
  subscriptionId,
} from './dataResponses.ts';

export const subscribe = defineTool({
  name: 'subscribe',
  title: 'Subscribe to data',
  description:
    'Starts a change log for a path; read it with firebase.pollEvents. child_…: Realtime Database; document_…: Firestore collections; value: both.',
  details:
    'You see only what the security rules let you read. The log can also be read at /mcp/events and with subscriptions/listen, from any connection. Events are ordered and include changes made while no one was reading. Changes within 100 ms are combined; additions and removals are always reported. A path can have at most 1,000 children or documents of 4 MiB in total; with eventType value, at most 1 MiB. The log keeps the last 800 to 1,000 events, up to 4 MiB, for 24 hours; a subscription unread for 24 hours is deleted.',
  input: z.strictObject({
    subscriptionId: listedSubscriptionId('Id of your choice: letters, digits, -'),
    database: database('Database'),
    path: path('Path to watch'),
    eventType: z.enum(EVENT_TYPES).default('value').describe('Events'),
    includeInitial: z.boolean().default(true).describe('Also return current data'),
  }),
  output: z.object({
    success: z.boolean(),
    subscriptionId: z.string(),
    initialData: structured.optional().describe('Initial data at subscription path'),
    initialDataLeftOut: z.string().optional().describe('Why initial data is missing: it exceeds the response limit.'),
    cursor: z.string().optional().describe('For firebase.pollEvents: returns events from now on.'),
  }),
  returnsWhole: true,
  // No role is required, because the security rules decide about the access.
  ...writing('viewer', { destructiveHint: false, idempotentHint: true }),
  example: {
    subscriptionId: 'sub-tasks-001',
    database: 'realtime',
    path: 'tasks/queue',
    eventType: 'child_added',
    includeInitial: false,
  },
  handler: async ({ services, caller, operation }, { includeInitial, ...request }) => {
    const answer = ({ cursor }: SubscriptionState) => ({
      success: true,
      subscriptionId: request.subscriptionId,
      cursor,
    });
    // The stored response does not contain the data, which may be too large for one document.
    const record = (subscribed: SubscriptionState) => operation.recordResponse(answer(subscribed));
    const subscribed = await services.subscriptions.subscribe(caller, request, record);
    return { ...answer(subscribed), ...(includeInitial && initialResponse(initialDataOf(request, subscribed.data))) };
  },
  // Reads the data again. The data may be newer than the stored cursor; the events after the cursor lead to it.
  replay: async ({ services, caller }, { includeInitial, ...request }, { cursor }) => ({
    success: true,
    subscriptionId: request.subscriptionId,
    cursor: String(cursor),
    ...(includeInitial &&
      initialResponse(initialDataOf(request, await services.subscriptions.current(caller, request)))),
  }),
});

function initialResponse(initialData: ReturnType<typeof initialDataOf>) {
  if (fitsResponse(initialData)) return { initialData };
  return { initialDataLeftOut: 'The data exceeds the response limit: read the path with firebase.read.' };
}

const MAX_WAIT_MS = 25_000;

export const pollEvents = defineTool({
  name: 'pollEvents',
  title: 'Poll for events',
  description:
    'Returns up to 100 subscription events after cursor, or waits for the first. Call again with the returned cursor; no events are skipped.',
  details:
    'Events are returned oldest first, without a cursor from the oldest event on. If nothing happens during the wait, `events` is empty: call again later. No events are lost unless `overflow` is true.',
  input: z.strictObject({
    subscriptionId: listedSubscriptionId('The subscription'),
    cursor: z.string().min(1).max(100).optional().describe('cursor of previous result'),
    waitMs: z.number().int().min(0).max(MAX_WAIT_MS).default(20_000).describe('Milliseconds to wait; 0: none'),
  }),
  output: z.object({
    success: z.boolean(),
    events: z.array(
      z.object({
        subscriptionId: z.string(),
        eventType: z.string(),
        data: z.unknown().describe('Current value; for a removal, the last one'),
        previousData: z.unknown().optional().describe('Previous value, unless it and data exceed 256 KiB'),
        key: z.string().optional().describe('Key of the child, or id of the document'),
        timestamp: z.iso.datetime().describe('When the change was observed'),
        leftOut: z.string().optional().describe('Why data is null although data exists'),
      }),
    ),
    cursor: z.string().describe('Next cursor'),
    overflow: z
      .boolean()
      .describe('Whether earlier events were dropped or may be missing: read the path for its current state'),
  }),
  // No role is required to read one's own log. The security rules decide whether the path stays watched.
  ...reading,
  returnsWhole: true,
  notifies: true,
  example: { subscriptionId: 'sub-tasks-001', waitMs: 0 },
  handler: async (
    { services, caller, notify, disconnectSignal, trackWait },
    { subscriptionId: id, cursor, waitMs },
  ) => {
    const from = { subscriptionId: id, cursor, waiting: trackWait };
    const reading = await services.subscriptions.poll(caller, from, waitMs, disconnectSignal());
    const events = reading.events.map(({ event }) => withinResponse(event, fitsResponse));
    for (const params of events) notify({ method: EVENT_METHOD, params });
    return { success: true, events, cursor: reading.cursor, overflow: reading.overflow };
  },
});

export const unsubscribe = defineTool({
  name: 'unsubscribe',
  title: 'Unsubscribe',
  description: 'Ends your subscription and deletes its log.',
  details: 'Callers waiting for its events get NOT_FOUND.',
  input: z.strictObject({ subscriptionId: subscriptionId.describe('The subscription') }),
  output: z.object({ success: z.boolean(), subscriptionId: z.string() }),
  // No role is required to end one's own subscription.
  ...writing('viewer', { destructiveHint: true, idempotentHint: false }),
  example: { subscriptionId: 'sub-tasks-001' },
  response: (_: unknown, { subscriptionId: id }) => ({ success: true, subscriptionId: id }),
  handler: ({ services, caller, recordResponse }, { subscriptionId: id }) =>
    services.subscriptions.unsubscribe(caller, id, recordResponse),
});
