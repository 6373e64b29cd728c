/** Client of the Pub/Sub emulator's REST interface: topics, subscriptions and messages. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { TOPICS } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { eventually } from '../../e2e/support/waiting.ts';

const PROJECT = String(process.env['GCLOUD_PROJECT']);

const pulled = z.object({
  receivedMessages: z
    .array(
      z.object({
        ackId: z.string(),
        message: z.object({
          messageId: z.string(),
          data: z.string().default(''),
          attributes: z.record(z.string(), z.string()).default({}),
          orderingKey: z.string().optional(),
        }),
      }),
    )
    .default([]),
});

export interface Arrived {
  readonly id: string;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly orderingKey: string | undefined;
}

async function ask(method: 'PUT' | 'POST', resource: string, body: object): Promise<unknown> {
  const url = `http://${process.env['PUBSUB_EMULATOR_HOST']}/v1/${resource}`;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!response.ok && response.status !== 409) throw new Error(`Pub/Sub returned ${response.status} for ${resource}`);
  return response.json();
}

/** Creates the topics of Muster, because publishers need them, and perhaps no function has created them yet. */
export async function makeTopics(): Promise<void> {
  for (const topic of Object.values(TOPICS)) await ask('PUT', `projects/${PROJECT}/topics/${topic}`, {});
}

/** Publishes any text to a topic, including texts that Muster would never publish. */
export async function publish(topic: string, text: string, project = PROJECT): Promise<void> {
  const messages = [{ data: Buffer.from(text).toString('base64') }];
  await ask('POST', `projects/${project}/topics/${topic}:publish`, { messages });
}

/** A subscription of one test to a topic. If the topic does not exist, it is created. */
export class Subscription {
  private readonly name: string;
  private readonly arrived: Arrived[] = [];

  private constructor(project: string) {
    this.name = `projects/${project}/subscriptions/test-${randomUUID()}`;
  }

  static async to(topic: string, project = PROJECT): Promise<Subscription> {
    const subscription = new Subscription(project);
    const path = `projects/${project}/topics/${topic}`;
    await ask('PUT', path, {});
    await ask('PUT', subscription.name, { topic: path });
    return subscription;
  }

  /** Waits until `count` messages match, and returns these messages. */
  async until(count: number, concerns: (message: Arrived) => boolean): Promise<readonly Arrived[]> {
    return eventually(`${count} messages`, async () => {
      this.arrived.push(...(await this.pull()));
      const found = this.arrived.filter(concerns);
      return found.length >= count ? found : undefined;
    });
  }

  /** Returns the messages that have arrived since the last pull. Published messages can still be in transit. */
  async pull(): Promise<readonly Arrived[]> {
    const answer = await ask('POST', `${this.name}:pull`, { maxMessages: 100, returnImmediately: true });
    const { receivedMessages } = pulled.parse(answer);
    const ackIds = receivedMessages.map(({ ackId }) => ackId);
    if (ackIds.length > 0) await ask('POST', `${this.name}:acknowledge`, { ackIds });
    return receivedMessages.map(({ message: { messageId, data, attributes, orderingKey } }) => {
      return { id: messageId, text: Buffer.from(data, 'base64').toString(), attributes, orderingKey };
    });
  }
}
