import { onMessagePublished } from 'firebase-functions/pubsub';
import { app } from '../../app.ts';
import { region } from '../../config.ts';
import { messageIn } from './message.ts';

/** Logs, as an error, each message that a consumer could never process or gave up. */
export const logDeadLetters = onMessagePublished({ topic: 'dead-letters', region }, (event) => {
  const { attributes } = event.data.message;
  app().ports.log.error('dead_letter', { ...messageIn(event), attributes });
});
