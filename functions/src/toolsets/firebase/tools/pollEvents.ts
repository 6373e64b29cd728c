import { z } from 'zod';
import { fitsAnswer } from '../../../kernel/json.ts';
import { EVENT_METHOD, withinAnswer } from '../rules/subscription.ts';
import { defineTool, listedSubscriptionId } from './dataAnswers.ts';

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
