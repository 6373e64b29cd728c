/** `notifications/{uid}/{id}`: what a person's clients show. */
import type { Database } from 'firebase-admin/database';
import type { Notification } from '../../domain/notifications/notification.ts';
import type { Inbox } from '../../domain/notifications/ports.ts';
import { putAmongLatest } from './latest.ts';
import { keyOf, notificationsPath } from './paths.ts';

/** Of each person. */
const KEPT = 100;

export class DatabaseInbox implements Inbox {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async put({ id, uid, taskId, title, body, at }: Notification): Promise<void> {
    const list = (await this.database()).ref(notificationsPath(uid));
    const entry = { id, task_id: taskId, title, body, timestamp: at.toISOString(), at: at.getTime() };
    await putAmongLatest(list.orderByChild('at'), keyOf(id), entry, KEPT);
  }
}
