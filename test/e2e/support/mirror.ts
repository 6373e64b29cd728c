/** The mirror of claimable tasks in the Realtime Database, and the events that keep it. */
import { realtimeDatabase } from '../../../functions/src/adapters/admin/realtimeDatabase.ts';
import { TASK_QUEUE } from '../../../functions/src/adapters/database/paths.ts';
import { isRecord } from './clients.ts';
import { FUNCTIONS_URL } from './endpoint.ts';

/** The ids of a workspace's tasks that the mirror shows. */
export async function mirrored(workspace: string): Promise<readonly string[]> {
  const snapshot = await (await realtimeDatabase()).ref(TASK_QUEUE).get();
  const queue: unknown = snapshot.val();
  if (!isRecord(queue)) return [];
  return Object.entries(queue).flatMap(([id, entry]) =>
    isRecord(entry) && entry['workspace'] === workspace ? [id] : [],
  );
}

/** Delivers the event of a written task once more, as Eventarc may at any time. */
export async function deliverTaskWritten(taskId: string): Promise<void> {
  const project = process.env['GCLOUD_PROJECT'];
  const document = `tasks/${taskId}`;
  const event = {
    specversion: '1.0',
    id: `repeated-${taskId}-${Math.random()}`,
    type: 'google.cloud.firestore.document.v1.written',
    source: `//firestore.googleapis.com/projects/${project}/databases/(default)`,
    subject: `documents/${document}`,
    time: new Date(0).toISOString(),
    datacontenttype: 'application/json',
    project,
    database: '(default)',
    namespace: '(default)',
    location: 'us-central1',
    document,
    data: {},
  };
  const url = `${FUNCTIONS_URL}/functions/projects/${project}/triggers/us-central1-mirrorTaskQueue-0`;
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  });
  if (!response.ok) throw new Error(`The trigger answered ${response.status}: ${await response.text()}`);
}
