/**
 * Events: what happened to a to-do. Each is written in the commit that makes it happen, and never changed: the
 * documents are the audit trail and the outbox at once. Source: spec/todo.md, "Event Structure";
 * docs/decisions/0018-event-spine.md.
 */
import { z } from 'zod';
import { type JsonObject, jsonObject } from '../json.ts';

/** `reminder` is ours: a reminder of the to-do became due. */
export const EVENT_TYPES = ['created', 'updated', 'completed', 'deleted', 'reminder'] as const;

export type TaskEventType = (typeof EVENT_TYPES)[number];

/** Grows when a consumer that knows only the old structure could no longer read an event. */
export const SCHEMA_VERSION = 1;

export interface TaskEvent {
  readonly id: string;
  readonly type: TaskEventType;
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
  schema_version: z.literal(SCHEMA_VERSION),
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

export type EventMessage = z.output<typeof eventMessage>;

export function messageOf(event: TaskEvent): EventMessage {
  return {
    event_id: event.id,
    schema_version: SCHEMA_VERSION,
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

/** The topics of spec/todo.md. */
export const TOPICS = {
  taskEvents: 'task-events',
  taskUpdates: 'task-updates',
  reminders: 'reminders',
} as const;

export type Topic = (typeof TOPICS)[keyof typeof TOPICS];

/** Where an event goes: all to the audit trail, changes also to those who watch, reminders to the notifier. */
export function topicsOf({ type }: Pick<TaskEvent, 'type'>): readonly Topic[] {
  return [TOPICS.taskEvents, type === 'reminder' ? TOPICS.reminders : TOPICS.taskUpdates];
}

/** What commits add to the events. */
export interface EventChanges {
  /** Stale where there is an event of this id: what it says has happened already. */
  readonly recordEvent: { readonly event: TaskEvent };
}

declare module '../store.ts' {
  interface ChangeKinds extends EventChanges {}
}
