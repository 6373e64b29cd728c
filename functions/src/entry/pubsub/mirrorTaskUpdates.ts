import { onMessagePublished } from 'firebase-functions/pubsub';
import { app } from '../../app.ts';
import { region } from '../../config.ts';
import { messageIn } from './message.ts';

/** Shows changes of to-dos in the Realtime Database, to those who watch them. */
export const mirrorTaskUpdates = onMessagePublished({ topic: 'task-updates', region, retry: true }, (event) =>
  app().services.consumers['task-updates'].receive(messageIn(event)),
);
