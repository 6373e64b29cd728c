/** What the event spine needs of the world. */
import type { TaskEvent, TaskEventType, Topic } from './event.ts';

export interface EventReader {
  /** @throws Error where there is a document of this id that is no event */
  find(eventId: string): Promise<TaskEvent | undefined>;
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

/** That an event arrived, and what it said then. */
export interface AuditEntry {
  readonly eventId: string;
  readonly type: TaskEventType;
  readonly taskId: string;
  readonly userId: string;
  readonly timestamp: Date;
  /** SHA-256 of the event's canonical JSON: an event that was changed since has another. */
  readonly digest: string;
  readonly recordedAt: Date;
}

export interface AuditTrail {
  /** Leaves the entry that is there already. */
  record(entry: AuditEntry): Promise<void>;
}

/** What people's clients watch: the latest changes of their to-dos. */
export interface TaskUpdates {
  /** Shows the event among its owner's latest; once, however often it is told. */
  show(event: TaskEvent): Promise<void>;
}
