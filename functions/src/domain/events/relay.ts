/** From the outbox to the topics. Relaying twice publishes twice; consumers know events by their ids. */
import type { TodoPorts } from '../todos/ports.ts';
import { topicsOf } from './event.ts';
import type { EventPublisher } from './ports.ts';

export class EventRelay {
  private readonly ports: TodoPorts;
  private readonly publisher: EventPublisher;

  constructor(ports: TodoPorts, publisher: EventPublisher) {
    this.ports = ports;
    this.publisher = publisher;
  }

  /** Fails where any topic cannot be reached: the trigger then comes again. */
  async relay(eventId: string): Promise<void> {
    const { taskEvents, log } = this.ports;
    const event = await taskEvents.find(eventId);
    if (event === undefined) {
      log.error('event_missing', { eventId }); // events are never deleted
      return;
    }
    await Promise.all(topicsOf(event).map((topic) => this.publisher.publish(topic, event)));
  }
}
