import { onMessagePublished } from 'firebase-functions/pubsub';
import { app } from '../../app.ts';
import { region } from '../../config.ts';
import { messageIn } from './message.ts';

/** Records in `audit` that each event arrived. */
export const auditEvents = onMessagePublished({ topic: 'task-events', region, retry: true }, (event) =>
  app().services.consumers['task-events'].receive(messageIn(event)),
);
