/** Scenarios for reads and writes in both databases, and for subscriptions. Either version may record the events. */
import assert from 'node:assert/strict';
import { z } from 'zod';
import { eventually } from '../../../e2e/support/waiting.ts';
import type { Place, Scenario } from '../scenario.ts';

const read = z.object({ data: z.unknown(), metadata: z.object({ version: z.string().optional() }) });
const subscribed = z.object({ cursor: z.string() });
const polled = z.object({ events: z.array(z.object({ data: z.unknown() })), cursor: z.string() });

export const dataScenarios: readonly Scenario[] = [
  {
    name: 'data and subscriptions',
    steps: ({ workspace, worker, other }) => {
      const path = `shared/${workspace}/notes`;
      const subscriptionId = `notes-${workspace}`;
      let cursor = '';
      const write = (at: Place, name: string, data: object) =>
        at.call(other, 'firebase_write', { database: 'realtime', path: `${path}/${name}`, data });
      const saw = async (at: Place, wanted: object) => {
        await eventually('the subscription returns the written value', async () => {
          const answer = polled.parse(
            await at.ask(worker, 'firebase_pollEvents', { subscriptionId, cursor, waitMs: 5000 }),
          );
          cursor = answer.cursor;
          return JSON.stringify(answer.events).includes(JSON.stringify(wanted)) || undefined;
        });
      };
      return [
        async (at) => {
          await write(at, 'first', { text: 'one' });
          const asked = { database: 'realtime', path, subscriptionId, eventType: 'child_added' };
          cursor = subscribed.parse(await at.call(worker, 'firebase_subscribe', asked)).cursor;
          await write(at, 'second', { text: 'two' });
          await saw(at, { text: 'two' });
        },
        async (at) => {
          await write(at, 'third', { text: 'three' });
          await saw(at, { text: 'three' });
          const now = read.parse(await at.call(worker, 'firebase_read', { database: 'realtime', path }));
          assert.deepEqual(now.data, { first: { text: 'one' }, second: { text: 'two' }, third: { text: 'three' } });
          const message = { database: 'realtime', path: `messages/agents/${worker.id}`, data: { text: 'Hello' } };
          await at.call(other, 'firebase_write', { ...message, operation: 'push' });
        },
        async (at) => {
          const own = { database: 'realtime', path: `${path}/first` };
          const { metadata } = read.parse(await at.call(worker, 'firebase_read', own));
          const change = { ...own, data: { text: 'ONE' }, transaction: true, expectedVersion: metadata.version };
          await at.call(worker, 'firebase_write', change);
          await assert.rejects(at.call(worker, 'firebase_write', change), /CONFLICT|conflict|changed/);
          const messages = { database: 'realtime', path: `messages/agents/${worker.id}` };
          assert.match(JSON.stringify(await at.call(worker, 'firebase_read', messages)), /Hello/);
        },
        async (at) => {
          await write(at, 'fourth', { text: 'four' });
          await saw(at, { text: 'four' });
          await at.call(worker, 'firebase_unsubscribe', { subscriptionId });
          const agent = read.parse(
            await at.call(worker, 'firebase_read', { database: 'firestore', path: `agents/${worker.id}` }),
          );
          assert.match(JSON.stringify(agent.data), new RegExp(worker.id));
        },
      ];
    },
  },
];
