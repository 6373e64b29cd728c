/** Subscriptions as resources: what MCP's own `subscriptions/listen` watches. */

import { z } from 'zod';
import { fitsAnswer } from '../../kernel/json.ts';
import { defineResourceTemplate, type ResourceTemplate } from '../../mcp/resource.ts';
import type { Reading } from './rules/page.ts';
import { withinAnswer } from './rules/subscription.ts';
import { subscriptionId } from './tools/shapes.ts';

const subscription = defineResourceTemplate({
  uriTemplate: 'firebase://subscriptions/{subscriptionId}',
  name: 'subscription',
  title: 'Subscription',
  description:
    'The oldest events that a subscription of yours still has, and the cursor from which firebase_pollEvents goes on. Listen to it with subscriptions/listen.',
  mimeType: 'application/json',
  role: 'viewer',
  variables: z.strictObject({ subscriptionId }),
  read: async ({ services, caller }, { subscriptionId: id }) => {
    const { events, cursor, overflow } = await services.subscriptions.poll(caller, { subscriptionId: id }, 0);
    return JSON.stringify({
      subscriptionId: id,
      events: events.map(({ event }) => withinAnswer(event, fitsAnswer)),
      cursor,
      overflow,
    });
  },
  watch: async ({ services, caller, gone }, { subscriptionId: id }) => {
    const { subscriptions } = services;
    const first = await subscriptions.poll(caller, { subscriptionId: id }, 0);
    return changes(first, subscriptions.follow(caller, { subscriptionId: id, cursor: first.cursor }, gone()));
  },
});

/** What is there already may be new to the client: it is told once. */
async function* changes(first: Reading, following: AsyncIterable<Reading>): AsyncGenerator<Reading> {
  if (first.events.length > 0 || first.overflow) yield first;
  yield* following;
}

export const templates: readonly ResourceTemplate[] = [subscription];
