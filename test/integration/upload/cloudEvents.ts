/**
 * Events as Eventarc delivers them: CloudEvents in binary mode over HTTP.
 * Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md;
 * https://cloud.google.com/eventarc/docs/cloudevents
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
// Compiled definition of the event message, with which firebase-functions reads events.
import protos from '../../../node_modules/firebase-functions/protos/compiledFirestore.js';

export interface Delivery {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Json = z.infer<ReturnType<typeof z.json>>;

const stored = z.object({
  name: z.string(),
  fields: z.record(z.string(), z.json()).default({}),
  createTime: z.string(),
  updateTime: z.string(),
});

const { DocumentEventData } = protos.google.events.cloud.firestore.v1;

/** Returns an event of the given type for a document that exists in the emulator. */
export async function documentEvent(
  projectId: string,
  type: string,
  path: string,
  databaseId = '(default)',
): Promise<Delivery> {
  const database = `projects/${projectId}/databases/${databaseId}`;
  const address = `http://${process.env['FIRESTORE_EMULATOR_HOST']}/v1/${database}/documents/${path}`;
  const answer = await fetch(address, { headers: { authorization: 'Bearer owner' } });
  if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status}`);
  const { name, fields, createTime, updateTime } = stored.parse(await answer.json());
  const value = {
    name,
    fields: Object.fromEntries(Object.entries(fields).map(([field, one]) => [field, asMessage(one)])),
    createTime: moment(createTime),
    updateTime: moment(updateTime),
  };
  const data = DocumentEventData.encode(DocumentEventData.fromObject({ value })).finish();
  return {
    headers: {
      ...eventHeaders(type, `//firestore.googleapis.com/${database}`),
      'ce-subject': `documents/${path}`,
      'ce-document': path,
      'ce-database': databaseId,
      'ce-namespace': '(default)',
      'ce-project': projectId,
      'ce-location': 'us-central1',
      'ce-dataschema':
        'https://github.com/googleapis/google-cloudevents/blob/main/proto/google/events/cloud/firestore/v1/data.proto',
      'content-type': 'application/protobuf',
    },
    body: Buffer.from(data),
  };
}

/** Returns the event for a published message. */
export function messageEvent(
  projectId: string,
  topic: string,
  { data, attributes }: { readonly data: Buffer; readonly attributes: Readonly<Record<string, string>> },
): Delivery {
  const messageId = String(Date.now());
  const message = { data: data.toString('base64'), attributes, messageId, publishTime: new Date().toISOString() };
  const subscription = `projects/${projectId}/subscriptions/eventarc-${topic}`;
  return {
    headers: {
      ...eventHeaders(
        'google.cloud.pubsub.topic.v1.messagePublished',
        `//pubsub.googleapis.com/projects/${projectId}/topics/${topic}`,
      ),
      'content-type': 'application/json',
    },
    body: Buffer.from(JSON.stringify({ message, subscription })),
  };
}

function eventHeaders(type: string, source: string): Record<string, string> {
  return {
    'ce-specversion': '1.0',
    'ce-id': randomUUID(),
    'ce-type': type,
    'ce-source': source,
    'ce-time': new Date().toISOString(),
  };
}

const timestampField = z.object({ timestampValue: z.string() });
const nullField = z.object({ nullValue: z.null() });
const mapField = z.object({ mapValue: z.object({ fields: z.record(z.string(), z.json()).default({}) }) });
const arrayField = z.object({ arrayValue: z.object({ values: z.array(z.json()).default([]) }) });

/** Converts a field from JSON to a protobuf message. In JSON, timestamps are text and null values are `null`. */
function asMessage(value: Json): object {
  const timestamp = timestampField.safeParse(value);
  if (timestamp.success) return { timestampValue: moment(timestamp.data.timestampValue) };
  if (nullField.safeParse(value).success) return { nullValue: 0 };
  const map = mapField.safeParse(value);
  if (map.success) {
    const fields = Object.entries(map.data.mapValue.fields).map(([name, one]) => [name, asMessage(one)]);
    return { mapValue: { fields: Object.fromEntries(fields) } };
  }
  const array = arrayField.safeParse(value);
  if (array.success) return { arrayValue: { values: array.data.arrayValue.values.map(asMessage) } };
  return z.record(z.string(), z.json()).parse(value);
}

function moment(text: string): { seconds: number; nanos: number } {
  const fraction = /\.(\d+)Z$/.exec(text)?.[1] ?? '0';
  return { seconds: Math.floor(Date.parse(text) / 1000), nanos: Number(fraction.padEnd(9, '0')) };
}
