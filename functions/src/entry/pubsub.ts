import type { CloudEvent } from 'firebase-functions';
import { type MessagePublishedData, onMessagePublished } from 'firebase-functions/pubsub';
import { app } from '../app.ts';
import { region } from '../config.ts';

/** Records in `audit` that each event arrived. */
export const auditEvents = onMessagePublished({ topic: 'task-events', region, retry: true }, (event) =>
  app().services.consumers['task-events'].receive(messageIn(event)),
);

/** Logs, as an error, each message that a consumer could never process or gave up. */
export const logDeadLetters = onMessagePublished({ topic: 'dead-letters', region }, (event) => {
  const { attributes } = event.data.message;
  app().ports.log.error('dead_letter', { ...messageIn(event), attributes });
});

/** Shows changes of to-dos in the Realtime Database, to those who watch them. */
export const mirrorTaskUpdates = onMessagePublished({ topic: 'task-updates', region, retry: true }, (event) =>
  app().services.consumers['task-updates'].receive(messageIn(event)),
);

/** Tells people of reminders that are due. */
export const notifyOfReminders = onMessagePublished({ topic: 'reminders', region, retry: true }, (event) =>
  app().services.consumers['reminders'].receive(messageIn(event)),
);

/** A published message, its data as text. */
export function messageIn({ data: { message } }: CloudEvent<MessagePublishedData>) {
  return { id: message.messageId, text: Buffer.from(message.data, 'base64').toString() };
}
