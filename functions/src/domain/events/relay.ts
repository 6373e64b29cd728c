/** From the outbox to the topics. Relaying twice publishes twice; consumers know events by their ids. */
import type { Log } from '../ports.ts';
import { topicsOf } from './event.ts';
import type { EventPublisher, EventReader } from './ports.ts';

export interface RelayDependencies {
  readonly taskEvents: EventReader;
  readonly publisher: EventPublisher;
  readonly log: Log;
}

export class EventRelay {
  private readonly dependencies: RelayDependencies;

  constructor(dependencies: RelayDependencies) {
    this.dependencies = dependencies;
  }

  /** Fails where any topic cannot be reached: the trigger then comes again. */
  async relay(eventId: string): Promise<void> {
    const { taskEvents, publisher, log } = this.dependencies;
    const event = await taskEvents.find(eventId);
    if (event === undefined) {
      log.error('event_missing', { eventId }); // events are never deleted
      return;
    }
    await Promise.all(topicsOf(event).map((topic) => publisher.publish(topic, event)));
  }
}
