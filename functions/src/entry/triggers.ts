import { onDocumentCreated, onDocumentWritten } from 'firebase-functions/firestore';
import { app } from '../app.ts';
import { region } from '../config.ts';
import { EVENT_PATTERN, TASK_PATTERN, TODO_PATTERN } from '../kernel/firestore/paths.ts';

/** Publishes each event of the outbox `events` to its topics. */
export const relayEvent = onDocumentCreated({ document: EVENT_PATTERN, region, retry: true }, (event) =>
  app().services.relayEvent(event.params.eventId),
);

/** Keeps `tasks/queue` of the Realtime Database in step with `tasks` of Firestore. */
export const mirrorTaskQueue = onDocumentWritten({ document: TASK_PATTERN, region, retry: true }, (event) =>
  app().services.taskQueueMirror.refresh(event.params.taskId),
);

/** Makes what follows from a to-do that somebody changed past the tools. */
export const repairTodo = onDocumentWritten({ document: TODO_PATTERN, region, retry: true }, (event) =>
  app().services.repairTodo(event.params.todoId, event.data?.before.data()),
);

/** Lets a run go on whose step a live agent has done. */
export const resumeRun = onDocumentWritten({ document: TASK_PATTERN, region, retry: true }, (event) =>
  app().services.orchestration.runs.taskChanged(event.params.taskId),
);
