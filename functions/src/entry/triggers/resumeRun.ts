import { onDocumentWritten } from 'firebase-functions/firestore';
import { TASK_PATTERN } from '../../adapters/firestore/paths.ts';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Lets a run go on whose step a live agent has done. */
export const resumeRun = onDocumentWritten({ document: TASK_PATTERN, region, retry: true }, (event) =>
  app().services.orchestration.runs.taskChanged(event.params.taskId),
);
