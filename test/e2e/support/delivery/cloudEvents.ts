/** The events with which Eventarc calls functions, as CloudEvents in structured mode. */
import { randomUUID } from 'node:crypto';

/** A document in Firestore's REST form. */
export interface StoredDocument {
  readonly name: string;
  readonly fields?: unknown;
  readonly createTime: string;
  readonly updateTime: string;
}

/** A change of a document. If it was created, there is no `oldValue`; if it was deleted, there is no `value`. */
export interface DocumentWrite {
  readonly value?: StoredDocument;
  readonly oldValue?: StoredDocument;
}

export interface Message {
  readonly id: string;
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export type CloudEvent = Readonly<Record<string, unknown>>;

/**
 * @param document path of the document, such as `tasks/task-1`
 * @see https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/firestore/v1/data.proto
 */
export function documentEvent(
  project: string,
  kind: 'created' | 'written',
  document: string,
  data: DocumentWrite,
): CloudEvent {
  return {
    specversion: '1.0',
    id: randomUUID(),
    type: `google.cloud.firestore.document.v1.${kind}`,
    source: `//firestore.googleapis.com/projects/${project}/databases/(default)`,
    subject: `documents/${document}`,
    time: new Date(0).toISOString(),
    datacontenttype: 'application/json',
    project,
    database: '(default)',
    namespace: '(default)',
    location: 'us-central1',
    document,
    data,
  };
}

/** @see https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/pubsub/v1/data.proto */
export function messageEvent(project: string, topic: string, { id, text, attributes }: Message): CloudEvent {
  return {
    specversion: '1.0',
    id,
    type: 'google.cloud.pubsub.topic.v1.messagePublished',
    source: `//pubsub.googleapis.com/projects/${project}/topics/${topic}`,
    time: new Date(0).toISOString(),
    datacontenttype: 'application/json',
    data: {
      subscription: `projects/${project}/subscriptions/eventarc-${topic}`,
      message: { messageId: id, data: Buffer.from(text).toString('base64'), attributes },
    },
  };
}

/** Delivers an event, and returns whether the function accepted it. If not, Eventarc would deliver it again. */
export async function deliver(url: string, event: CloudEvent): Promise<boolean> {
  const headers = { 'Content-Type': 'application/cloudevents+json' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(event) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // The connection was lost. The function may or may not have processed the event.
  }
}
