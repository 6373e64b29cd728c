/**
 * An event as a message of Pub/Sub: its data is the event as JSON, its attributes are those of a CloudEvent in binary
 * mode, so that any consumer of CloudEvents can take it.
 * Source: https://github.com/googleapis/google-cloudevents/blob/main/docs/spec/pubsub.md
 */
import { messageOf, type TaskEvent } from '../../domain/events/event.ts';

export interface PubSubMessage {
  readonly data: Buffer;
  readonly attributes: Record<string, string>;
  readonly orderingKey?: string;
}

export function pubSubMessage(event: TaskEvent, project: string): PubSubMessage {
  return {
    data: Buffer.from(JSON.stringify(messageOf(event))),
    attributes: {
      'ce-specversion': '1.0',
      'ce-id': event.id,
      'ce-type': `muster.task.${event.type}`,
      'ce-source': `//firestore.googleapis.com/projects/${project}/databases/(default)/documents/events`,
      'ce-subject': event.taskId,
      'ce-time': event.timestamp.toISOString(),
      'content-type': 'application/json',
      event_id: event.id,
      event_type: event.type,
    },
    orderingKey: event.taskId,
  };
}
