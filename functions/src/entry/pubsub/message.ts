import type { CloudEvent } from 'firebase-functions';
import type { MessagePublishedData } from 'firebase-functions/pubsub';

/** A published message, its data as text. */
export function messageIn({ data: { message } }: CloudEvent<MessagePublishedData>) {
  return { id: message.messageId, text: Buffer.from(message.data, 'base64').toString() };
}
