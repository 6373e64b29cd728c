/** The emulators deliver only a few messages to functions at a time, and deliver a failed message again. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { deliverMessages, maxConcurrentMessages } from '../../../scripts/emulators/delivery.mjs';
import { projectId } from '../../../scripts/project.mjs';
import { eventually } from '../../e2e/support/waiting.ts';
import { close, listen } from '../../support/listening.ts';
import { publish } from './pubsub.ts';

const MESSAGES = 40;

const event = z.object({
  specversion: z.literal('1.0'),
  type: z.literal('google.cloud.pubsub.topic.v1.messagePublished'),
  data: z.object({ message: z.object({ messageId: z.string(), data: z.string() }) }),
});

describe('message delivery to functions', () => {
  const topic = `topic-${randomUUID()}`;
  const id = `us-central1-consumer-${randomUUID()}`;
  const pubsub = `http://${process.env['PUBSUB_EMULATOR_HOST']}`;
  const taken: string[] = [];
  const refused = new Set<string>();
  const run = { isOver: false, isEnding: () => run.isOver };
  let underWay = 0;
  let limit = 0;
  let functions: Server;

  before(async function () {
    if (!process.env['PUBSUB_EMULATOR_HOST']) this.skip();
    functions = createServer(async (request, response) => {
      if (request.url === '/backends') return void response.end(JSON.stringify(backends(topic, id)));
      limit = Math.max(limit, ++underWay);
      const { message } = event.parse(await json(request)).data;
      await delay(5); // Gives other messages time to arrive.
      underWay--;
      const text = Buffer.from(message.data, 'base64').toString();
      const isTaken = text !== 'refused once' || refused.has(text);
      isTaken ? taken.push(text) : refused.add(text);
      response.writeHead(isTaken ? 200 : 500).end();
    });
    const output = { line: () => {} };
    await deliverMessages({ functions: await listen(functions), pubsub, run, output });
  });
  after(() => {
    run.isOver = true;
    return close(functions);
  });

  it(`runs at most ${maxConcurrentMessages} messages concurrently, each once, and retries a failed one`, async () => {
    const texts = Array.from({ length: MESSAGES }, (_, number) => `message ${number}`);
    await publish(topic, 'refused once', projectId);
    await Promise.all(texts.map((text) => publish(topic, text, projectId)));
    await eventually('all messages have arrived', async () => taken.length > MESSAGES || undefined);
    assert.deepEqual([...taken].sort(), [...texts, 'refused once'].sort());
    assert.deepEqual([...refused], ['refused once']);
    assert.ok(limit <= maxConcurrentMessages, `${limit} messages ran concurrently`);
  });

  it('gives a function ten minutes to acknowledge a message', async () => {
    const path = `projects/${projectId}/subscriptions/${id}`;
    const { ackDeadlineSeconds } = z
      .object({ ackDeadlineSeconds: z.number() })
      .parse(await (await fetch(`${pubsub}/v1/${path}`)).json());
    assert.equal(ackDeadlineSeconds, 600);
  });
});

function backends(topic: string, id: string) {
  const resource = `projects/${projectId}/topics/${topic}`;
  const eventTrigger = { eventType: 'google.cloud.pubsub.topic.v1.messagePublished', resource };
  return { backends: [{ functionTriggers: [{ id, eventTrigger }, { id: 'us-central1-mcp' }] }] };
}
