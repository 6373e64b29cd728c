import { onDocumentWritten } from 'firebase-functions/firestore';
import { TODO_PATTERN } from '../../adapters/firestore/paths.ts';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Makes what follows from a to-do that somebody changed past the tools. */
export const repairTodo = onDocumentWritten({ document: TODO_PATTERN, region, retry: true }, (event) =>
  app().services.repairTodo(event.params.todoId, event.data?.before.data()),
);
