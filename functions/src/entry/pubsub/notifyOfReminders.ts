import { onMessagePublished } from 'firebase-functions/pubsub';
import { app } from '../../app.ts';
import { region } from '../../config.ts';
import { messageIn } from './message.ts';

/** Tells people of reminders that are due. */
export const notifyOfReminders = onMessagePublished({ topic: 'reminders', region, retry: true }, (event) =>
  app().services.consumers['reminders'].receive(messageIn(event)),
);
