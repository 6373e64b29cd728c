/** The tools that subscribe to a path, fetch its events and unsubscribe. Source: the network specification. */
import { z } from 'zod';
import { fitsAnswer } from '../../../kernel/json.ts';
import { EVENT_METHOD, EVENT_TYPES, withinAnswer } from '../rules/subscription.ts';
import type { Subscribed } from '../rules/subscriptionService.ts';
import {
  database,
  defineTool,
  initialDataOf,
  listedSubscriptionId,
  path,
  structured,
  subscriptionId,
} from './dataAnswers.ts';

export const subscribe = defineTool({
  name: 'subscribe',
  title: 'Subscribe to data',
  description:
    'Begins a log of changes at a path, which firebase.pollEvents reads. child_… events are for the Realtime Database, document_… for Firestore collections, value for both.',
  details:
    'As yourself: the security rules decide what you see. The log is also read at /mcp/events and with subscriptions/listen, from any connection. Events come in order and also tell what changed while nobody read. What changes several times within 100 ms is one change; what is added or removed is always told. At most 1,000 children or documents and 4 MiB, or 1 MiB as one value. The log keeps the last 800 to 1,000 events, at most 4 MiB, for 24 hours; a subscription that nobody reads for 24 hours is forgotten.',
  input: z.strictObject({
    subscriptionId: listedSubscriptionId('A name of your choice: letters, digits, -'),
    database: database('Which database'),
    path: path('Path to watch'),
    eventType: z.enum(EVENT_TYPES).default('value').describe('Which events'),
    includeInitial: z.boolean().default(true).describe('Answer the data there now'),
  }),
  output: z.object({
    success: z.boolean(),
    subscriptionId: z.string(),
    initialData: structured.optional().describe('Initial data at subscription path'),
    initialDataLeftOut: z
      .string()
      .optional()
      .describe('Why there is no initial data, where an answer has no room for it.'),
    cursor: z.string().optional().describe('For firebase.pollEvents: what happens from now on.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  loosens: [],
  // The rules decide, and nothing before them.
  role: 'viewer',
  example: {
    subscriptionId: 'sub-tasks-001',
    database: 'realtime',
    path: 'tasks/queue',
    eventType: 'child_added',
    includeInitial: false,
  },
  handler: async ({ services, caller, operation }, { includeInitial, ...request }) => {
    const answer = ({ cursor }: Subscribed) => ({
      success: true,
      subscriptionId: request.subscriptionId,
      cursor,
    });
    // Stored without the data, which may be larger than what one document holds.
    const record = (subscribed: Subscribed) => operation.recordAnswer(answer(subscribed));
    const subscribed = await services.subscriptions.subscribe(caller, request, record);
    return {
      ...answer(subscribed),
      ...(includeInitial && initialAnswer(initialDataOf(request, subscribed.data))),
    };
  },
  // The data is read again: events after the first answer's cursor still lead up to it and beyond.
  replay: async ({ services, caller }, { includeInitial, ...request }, { cursor }) => ({
    success: true,
    subscriptionId: request.subscriptionId,
    cursor: String(cursor),
    ...(includeInitial &&
      initialAnswer(initialDataOf(request, await services.subscriptions.current(caller, request)))),
  }),
});

function initialAnswer(initialData: ReturnType<typeof initialDataOf>) {
  if (fitsAnswer(initialData)) return { initialData };
  return { initialDataLeftOut: 'It is larger than an answer may be: read the path with firebase.read.' };
}

const MAX_WAIT_MS = 25_000;

export const pollEvents = defineTool({
  name: 'pollEvents',
  title: 'Poll for events',
  description:
    "Reads up to 100 events of a subscription after cursor, or waits for the first. Call again with the answer's cursor; nothing is lost in between.",
  details:
    'Oldest first; without a cursor it begins with the oldest event. Where there was a long wait and nothing came, events is empty: call again, or do something else meanwhile. An event is lost only where overflow says so.',
  input: z.strictObject({
    subscriptionId: listedSubscriptionId('The subscription'),
    cursor: z.string().min(1).max(100).optional().describe('cursor of the last answer'),
    waitMs: z
      .number()
      .int()
      .min(0)
      .max(MAX_WAIT_MS)
      .default(20_000)
      .describe('Milliseconds; 0 answers at once'),
  }),
  output: z.object({
    success: z.boolean(),
    events: z.array(
      z.object({
        subscriptionId: z.string(),
        eventType: z.string(),
        data: z.unknown().describe('How it is now; of what was removed, how it was last'),
        previousData: z
          .unknown()
          .optional()
          .describe('How it was before, unless both together are more than 256 KiB'),
        key: z.string().optional().describe('Key of the child, or id of the document'),
        timestamp: z.iso.datetime().describe('When it was noticed'),
        leftOut: z.string().optional().describe('Why data is null though there is some'),
      }),
    ),
    cursor: z.string().describe('Where to go on'),
    overflow: z
      .boolean()
      .describe(
        'Whether events before these were dropped or may be missing: read the path again to see how it is now',
      ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  // What is one's own may be read; whether the watch goes on is for the rules to say.
  role: 'viewer',
  notifies: true,
  example: { subscriptionId: 'sub-tasks-001', waitMs: 0 },
  handler: async ({ services, caller, notify, gone, waiting }, { subscriptionId: id, cursor, waitMs }) => {
    const from = { subscriptionId: id, cursor, waiting };
    const reading = await services.subscriptions.poll(caller, from, waitMs, gone());
    const events = reading.events.map(({ event }) => withinAnswer(event, fitsAnswer));
    for (const params of events) notify({ method: EVENT_METHOD, params });
    return { success: true, events, cursor: reading.cursor, overflow: reading.overflow };
  },
});

export const unsubscribe = defineTool({
  name: 'unsubscribe',
  title: 'Unsubscribe',
  description: 'Ends a subscription of yours and removes its log.',
  details: 'Whoever waits for events of it is told NOT_FOUND.',
  input: z.strictObject({ subscriptionId: subscriptionId.describe('The subscription') }),
  output: z.object({ success: z.boolean(), subscriptionId: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  // What is one's own may always be given up.
  role: 'viewer',
  example: { subscriptionId: 'sub-tasks-001' },
  answer: (_: unknown, { subscriptionId: id }) => ({ success: true, subscriptionId: id }),
  handler: ({ services, caller, recordAnswer }, { subscriptionId: id }) =>
    services.subscriptions.unsubscribe(caller, id, recordAnswer),
});
