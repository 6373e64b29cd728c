/** Hands events to their consumers without a broker, on a machine that has none. */
import type { EventConsumer } from './consumer.ts';
import type { TaskEvent, Topic } from './event.ts';
import type { EventPublisher } from './ports.ts';

export class DirectDelivery implements EventPublisher {
  private readonly consumers: Readonly<Record<Topic, EventConsumer>>;

  constructor(consumers: Readonly<Record<Topic, EventConsumer>>) {
    this.consumers = consumers;
  }

  publish(topic: Topic, event: TaskEvent): Promise<void> {
    return this.consumers[topic].take(event);
  }
}
