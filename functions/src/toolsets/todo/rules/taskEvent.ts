/** Stored and published events of to-dos. Source: the to-do specification; docs/semantics.md#to-dos. */
import { z } from 'zod';
import { type JsonObject, jsonObject } from '../../../kernel/json.ts';

/** Event type for a question that an agent asks the person. Its `taskId` is the id of the request. */
export const QUESTION = 'question';

/** The to-do specification defines all types except `question` and `reminder` (a due reminder). */
export const EVENT_TYPES = ['created', 'updated', 'completed', 'deleted', 'reminder', QUESTION] as const;

export interface TaskEvent {
  readonly id: string;
  readonly type: (typeof EVENT_TYPES)[number];
  readonly taskId: string;
  /** Owner of the to-do, even if an agent changed it. */
  readonly userId: string;
  readonly timestamp: Date;
  /** The to-do (or, if `type` is `reminder`, the reminder) in the format of the tools; null if it did not exist. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  readonly changes: readonly string[];
}

export const eventMessage = z.object({
  event_id: z.string().min(1),
  /** Increase this number if consumers of the present structure could not read the new one. */
  schema_version: z.literal(1),
  event_type: z.enum(EVENT_TYPES),
  task_id: z.string().min(1),
  user_id: z.string().min(1),
  timestamp: z.iso.datetime(),
  event_data: z.object({ before: jsonObject.nullable(), after: jsonObject.nullable(), changes: z.array(z.string()) }),
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

/** Pub/Sub topics of the to-do specification. */
export const TOPICS = { taskEvents: 'task-events', taskUpdates: 'task-updates', reminders: 'reminders' } as const;
export type Topic = (typeof TOPICS)[keyof typeof TOPICS];

export interface EventChanges {
  /** The commit fails as stale if an event with this id exists, because its change was already made. */
  readonly recordEvent: { readonly event: TaskEvent };
}

export interface EventPublisher {
  /** Resolves when the broker has stored the event. Each to-do's events are delivered at least once and in order. */
  publish(topic: Topic, event: TaskEvent): Promise<void>;
}

/** A message that its consumer can never process. */
export interface DeadLetter {
  readonly consumer: string;
  readonly reason: string;
  readonly messageId: string;
  readonly text: string;
}

export interface DeadLetters {
  deadLetter(letter: DeadLetter): Promise<void>;
}

/** Returns the topics of an event: its history topic, and the topic for notifications or for clients. */
export function topicsOf({ type }: Pick<TaskEvent, 'type'>): readonly Topic[] {
  return [TOPICS.taskEvents, type === 'reminder' || type === QUESTION ? TOPICS.reminders : TOPICS.taskUpdates];
}
