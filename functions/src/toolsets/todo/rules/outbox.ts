/**
 * Events: what happened to a to-do. Each is written in the commit that makes it happen, and never changed: the
 * documents are the audit trail and the outbox at once. Source: the to-do specification, "Event Structure";
 * docs/decisions/0018-event-spine.md.
 */

import { z } from 'zod';
import { canonicalJson, type JsonObject, jsonObject, parsedJson } from '../../../kernel/json.ts';
import type { TodoPorts } from './ports.ts';

/** A person is asked something; what stands for the to-do's id is the request's. */
export const QUESTION = 'question';

/** `reminder` and `question` are ours: a reminder of the to-do became due. */
export const EVENT_TYPES = ['created', 'updated', 'completed', 'deleted', 'reminder', QUESTION] as const;

export interface TaskEvent {
  readonly id: string;
  readonly type: (typeof EVENT_TYPES)[number];
  readonly taskId: string;
  /** Whose to-do it is: the owner, also where an agent did it. */
  readonly userId: string;
  readonly timestamp: Date;
  /** The to-do, or of a reminder the reminder, as tools answer it; null where there was none. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** The fields in which the two differ. */
  readonly changes: readonly string[];
}

/** An event as it travels: JSON. */
export const eventMessage = z.object({
  event_id: z.string().min(1),
  /** Grows when a consumer that knows only the old structure could no longer read an event. */
  schema_version: z.literal(1),
  event_type: z.enum(EVENT_TYPES),
  task_id: z.string().min(1),
  user_id: z.string().min(1),
  timestamp: z.iso.datetime(),
  event_data: z.object({
    before: jsonObject.nullable(),
    after: jsonObject.nullable(),
    changes: z.array(z.string()),
  }),
});

type EventMessage = z.output<typeof eventMessage>;

export function messageOf(event: TaskEvent): EventMessage {
  return {
    event_id: event.id,
    schema_version: 1,
    event_type: event.type,
    task_id: event.taskId,
    user_id: event.userId,
    timestamp: event.timestamp.toISOString(),
    event_data: { before: event.before, after: event.after, changes: [...event.changes] },
  };
}

export function eventOf(message: EventMessage): TaskEvent {
  return {
    id: message.event_id,
    type: message.event_type,
    taskId: message.task_id,
    userId: message.user_id,
    timestamp: new Date(message.timestamp),
    ...message.event_data,
  };
}

/** The topics of the to-do specification. */
export const TOPICS = {
  taskEvents: 'task-events',
  taskUpdates: 'task-updates',
  reminders: 'reminders',
} as const;

export type Topic = (typeof TOPICS)[keyof typeof TOPICS];

/** What commits add to the events. */
export interface EventChanges {
  /** Stale where there is an event of this id: what it says has happened already. */
  readonly recordEvent: { readonly event: TaskEvent };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends EventChanges {}
}

export interface EventPublisher {
  /** Resolves when the event is safe: it is then delivered at least once, in the order of its to-do's others. */
  publish(topic: Topic, event: TaskEvent): Promise<void>;
}

/** A message that its consumer can never process. */
export interface DeadLetter {
  readonly consumer: string;
  readonly reason: string;
  readonly messageId: string;
  /** The message as it came. */
  readonly text: string;
}

export interface DeadLetters {
  bury(letter: DeadLetter): Promise<void>;
}

/** All events go to the audit trail, changes also to those who watch, what people are told of to the notifier. */
export function topicsOf({ type }: Pick<TaskEvent, 'type'>): readonly Topic[] {
  return [
    TOPICS.taskEvents,
    type === 'reminder' || type === QUESTION ? TOPICS.reminders : TOPICS.taskUpdates,
  ];
}

/**
 * From the outbox to the topics. Relaying twice publishes twice; consumers know events by their ids.
 * @throws Error where any topic cannot be reached: the trigger then comes again
 */
export async function relayEvent(ports: TodoPorts, publisher: EventPublisher, eventId: string) {
  const event = await ports.taskHistory.find(eventId);
  if (event === undefined) return ports.log.error('event_missing', { eventId }); // events are never deleted
  await Promise.all(topicsOf(event).map((topic) => publisher.publish(topic, event)));
}

/**
 * One consumer of a topic. Messages come at least once, late and out of order: what it does must be the same
 * however often. It throws where it may succeed later, and buries what it can never process, so that one bad
 * message is neither tried for a day nor lost.
 */
export function eventConsumer(
  consumer: string,
  act: (event: TaskEvent) => Promise<void>,
  { deadLetters, log }: TodoPorts,
) {
  return {
    /** Takes an event without its journey as a message. */
    act,
    async receive({ id: messageId, text }: { readonly id: string; readonly text: string }): Promise<void> {
      const read = eventMessage.safeParse(parsedJson(text));
      if (read.success) return act(eventOf(read.data));
      const reason = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
      log.error('message_buried', { consumer, messageId, reason });
      await deadLetters.bury({ consumer, reason, messageId, text });
    },
  };
}

/**
 * Records that an event arrived. The events themselves are the audit trail, and nobody can change them through
 * Muster; the digest shows where somebody has done so past it.
 */
export function audit(event: TaskEvent, { recordArrival, hashing, clock }: TodoPorts): Promise<void> {
  const digest = hashing.sha256(canonicalJson(messageOf(event)));
  return recordArrival(event, digest, clock.now());
}

/** Hands events to their consumers without a broker, on a machine that has none. */
export function directDelivery(
  consumers: Readonly<Record<Topic, Pick<ReturnType<typeof eventConsumer>, 'act'>>>,
): EventPublisher {
  return { publish: (topic, event) => consumers[topic].act(event) };
}
