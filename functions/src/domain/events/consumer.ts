/**
 * One consumer of a topic. Messages come at least once, late and out of order: what it does must be the same
 * however often. It throws where it may succeed later, and buries what it can never process, so that one bad
 * message is neither tried for a day nor lost.
 */
import type { TodoPorts } from '../todos/ports.ts';
import { eventMessage, eventOf, type TaskEvent } from './event.ts';

/** A message as it came. */
export interface Message {
  readonly id: string;
  readonly text: string;
}

export class EventConsumer {
  readonly name: string;
  private readonly act: (event: TaskEvent) => Promise<void>;
  private readonly ports: TodoPorts;

  constructor(name: string, act: (event: TaskEvent) => Promise<void>, ports: TodoPorts) {
    this.name = name;
    this.act = act;
    this.ports = ports;
  }

  async receive({ id, text }: Message): Promise<void> {
    const { deadLetters, log } = this.ports;
    const read = eventMessage.safeParse(parsed(text));
    if (read.success) return this.take(eventOf(read.data));
    const reason = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    log.error('message_buried', { consumer: this.name, messageId: id, reason });
    await deadLetters.bury({ consumer: this.name, reason, messageId: id, text });
  }

  /** The event without its journey as a message. */
  take(event: TaskEvent): Promise<void> {
    return this.act(event);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
