/** Publishes events to Pub/Sub. */
import type { Topic as PubSubTopic } from '@google-cloud/pubsub';
import { databaseId } from '../../kernel/firestore/client.ts';
import { lazy } from '../../kernel/memoCache.ts';
import {
  type DeadLetter,
  type DeadLetters,
  type EventPublisher,
  messageOf,
  type TaskEvent,
  type Topic,
} from '../../toolsets/todo/index.ts';

const DEAD_LETTERS = 'dead-letters';

/** Timeout of one message. It is short, because the trigger that publishes is retried anyway. */
const TIMEOUT_MS = 20_000;

export class PubSubPublisher implements EventPublisher, DeadLetters {
  /** Loads the client at the first use. In the bundle, the default export contains the CommonJS package. */
  private readonly pubSub = lazy(() => import('@google-cloud/pubsub').then(({ default: { PubSub } }) => new PubSub()));
  private readonly topics = new Map<string, PubSubTopic>();

  async publish(topic: Topic, event: TaskEvent): Promise<void> {
    await this.send(topic, pubSubMessage(event, String(process.env['GCLOUD_PROJECT'])));
  }

  async deadLetter({ consumer, reason, messageId, text }: DeadLetter): Promise<void> {
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
      // After a failure, the client publishes nothing more with the ordering key until this call.
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
      gaxOpts: { timeout: TIMEOUT_MS },
    });
    this.topics.set(name, topic);
    return topic;
  }
}

interface PubSubMessage {
  readonly data: Buffer;
  readonly attributes: Record<string, string>;
  readonly orderingKey?: string;
}

/**
 * Converts an event to a Pub/Sub message for any consumer of CloudEvents. The data is the event as JSON, and the
 * attributes are those of a CloudEvent in binary mode. Source:
 * https://github.com/googleapis/google-cloudevents/blob/main/docs/spec/pubsub.md
 */
export function pubSubMessage(event: TaskEvent, project: string): PubSubMessage {
  return {
    data: Buffer.from(JSON.stringify(messageOf(event))),
    attributes: {
      'ce-specversion': '1.0',
      'ce-id': event.id,
      'ce-type': `muster.task.${event.type}`,
      'ce-source': `//firestore.googleapis.com/projects/${project}/databases/${databaseId()}/documents/events`,
      'ce-subject': event.taskId,
      'ce-time': event.timestamp.toISOString(),
      'content-type': 'application/json',
      event_id: event.id,
      event_type: event.type,
    },
    orderingKey: event.taskId,
  };
}
