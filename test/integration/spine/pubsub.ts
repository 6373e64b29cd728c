/** The Pub/Sub emulator, over its REST interface: topics, subscriptions and what arrives. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { eventually } from '../../e2e/support/waiting.ts';

const PROJECT = `projects/${process.env['GCLOUD_PROJECT']}`;

const pulled = z.object({
  receivedMessages: z
    .array(
      z.object({
        ackId: z.string(),
        message: z.object({
          data: z.string().default(''),
          attributes: z.record(z.string(), z.string()).default({}),
          orderingKey: z.string().optional(),
        }),
      }),
    )
    .default([]),
});

export interface Arrived {
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey: string | undefined;
}

async function ask(method: 'PUT' | 'POST', path: string, body: object): Promise<unknown> {
  const url = `http://${process.env['PUBSUB_EMULATOR_HOST']}/v1/${PROJECT}/${path}`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok && response.status !== 409)
    throw new Error(`Pub/Sub answered ${response.status} to ${path}`);
  return response.json();
}

/** A subscription of its own to a topic, which is made where there is none. */
export class Subscription {
  private readonly name = `test-${randomUUID()}`;
  private readonly arrived: Arrived[] = [];

  private constructor() {}

  static async to(topic: string): Promise<Subscription> {
    const subscription = new Subscription();
    await ask('PUT', `topics/${topic}`, {});
    await ask('PUT', `subscriptions/${subscription.name}`, { topic: `${PROJECT}/topics/${topic}` });
    return subscription;
  }

  /** Waits until so many messages have arrived that are of concern. */
  async until(count: number, concerns: (message: Arrived) => boolean): Promise<readonly Arrived[]> {
    return eventually(`${count} messages`, async () => {
      const path = `subscriptions/${this.name}`;
      const answer = await ask('POST', `${path}:pull`, { maxMessages: 100, returnImmediately: true });
      const { receivedMessages } = pulled.parse(answer);
      for (const { message } of receivedMessages) {
        const text = Buffer.from(message.data, 'base64').toString();
        this.arrived.push({ text, attributes: message.attributes, orderingKey: message.orderingKey });
      }
      const ackIds = receivedMessages.map(({ ackId }) => ackId);
      if (ackIds.length > 0) await ask('POST', `${path}:acknowledge`, { ackIds });
      const found = this.arrived.filter(concerns);
      return found.length >= count ? found : undefined;
    });
  }
}
