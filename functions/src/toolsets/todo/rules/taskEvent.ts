/** The events of to-dos, as they are stored and published. Source: the to-do specification; docs/semantics.md#to-dos. */

import { z } from 'zod';
import { type JsonObject, jsonObject } from '../../../kernel/json.ts';

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

export interface EventChanges {
  /** Stale where there is an event of this id: what it says has happened already. */
  readonly recordEvent: { readonly event: TaskEvent };
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
