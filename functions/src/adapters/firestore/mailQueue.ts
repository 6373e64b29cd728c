/**
 * Mails, for Firebase's extension Trigger Email to send.
 * Source: https://extensions.dev/extensions/firebase/firestore-send-email
 */
import type { Firestore } from '@google-cloud/firestore';
import type { Notification } from '../../domain/notifications/notification.ts';
import type { MailQueue } from '../../domain/notifications/ports.ts';
import { createOnce } from './createOnce.ts';
import { mailPath } from './paths.ts';

export class FirestoreMailQueue implements MailQueue {
  private readonly database: Firestore;

  constructor(database: Firestore) {
    this.database = database;
  }

  async queue(address: string, { id, uid, title, body, taskId, at }: Notification): Promise<void> {
    await createOnce(this.database.doc(mailPath(id)), {
      to: [address],
      message: { subject: `Reminder: ${title}`, text: `${title}\n\n${body}\n` },
      user_id: uid,
      task_id: taskId,
      created_at: at,
    });
  }
}
