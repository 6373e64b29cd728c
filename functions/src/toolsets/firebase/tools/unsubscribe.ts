import { z } from 'zod';
import { defineTool, subscriptionId } from './dataAnswers.ts';

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
