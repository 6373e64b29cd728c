import { z } from 'zod';
import { fitsAnswer } from '../../../kernel/json.ts';
import { EVENT_TYPES } from '../rules/subscription.ts';
import type { Subscribed } from '../rules/subscriptionService.ts';
import {
  database,
  defineTool,
  initialDataOf,
  listedSubscriptionId,
  path,
  structured,
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
