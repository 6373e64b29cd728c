/** Publishes events to Pub/Sub. */
import type { PubSub, Topic as PubSubTopic } from '@google-cloud/pubsub';
import type { TaskEvent, Topic } from '../../domain/events/event.ts';
import type { DeadLetter, DeadLetters, EventPublisher } from '../../domain/events/ports.ts';
import { type PubSubMessage, pubSubMessage } from './message.ts';

export const DEAD_LETTERS = 'dead-letters';

/** The trigger that publishes comes again; it must not be kept until it is cut. */
const PATIENCE_MILLISECONDS = 20_000;

export class PubSubPublisher implements EventPublisher, DeadLetters {
  private client: Promise<PubSub> | undefined;
  private readonly topics = new Map<string, PubSubTopic>();

  async publish(topic: Topic, event: TaskEvent): Promise<void> {
    await this.send(topic, pubSubMessage(event, String(process.env['GCLOUD_PROJECT'])));
  }

  async bury({ consumer, reason, messageId, text }: DeadLetter): Promise<void> {
    await this.send(DEAD_LETTERS, {
      data: Buffer.from(text),
      attributes: { consumer, reason: reason.slice(0, 1000), message_id: messageId },
    });
  }

  private async send(name: string, message: PubSubMessage): Promise<void> {
    const topic = await this.topic(name);
    try {
      await topic.publishMessage(message);
    } catch (error) {
      // The client holds back all of a key after a failure, until it is told to go on.
      if (message.orderingKey !== undefined) topic.resumePublishing(message.orderingKey);
      throw error;
    }
  }

  private async topic(name: string): Promise<PubSubTopic> {
    const known = this.topics.get(name);
    if (known !== undefined) return known;
    const topic = (await this.pubSub()).topic(name, {
      messageOrdering: true,
      batching: { maxMessages: 1 },
      gaxOpts: { timeout: PATIENCE_MILLISECONDS },
    });
    this.topics.set(name, topic);
    return topic;
  }

  /** The client is loaded when something is first published; bundled, a CommonJS package is its default export. */
  private pubSub(): Promise<PubSub> {
    this.client ??= import('@google-cloud/pubsub').then(({ default: { PubSub } }) => new PubSub());
    return this.client;
  }
}
