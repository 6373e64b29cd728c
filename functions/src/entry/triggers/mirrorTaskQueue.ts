import { onDocumentWritten } from 'firebase-functions/firestore';
import { TASK_PATTERN } from '../../adapters/firestore/paths.ts';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Keeps `tasks/queue` of the Realtime Database in step with `tasks` of Firestore. */
export const mirrorTaskQueue = onDocumentWritten({ document: TASK_PATTERN, region, retry: true }, (event) =>
  app().services.taskQueueMirror.refresh(event.params.taskId),
);
