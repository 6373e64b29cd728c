/** `task-updates/{uid}/{eventId}`: the latest events of a person's to-dos, for clients that watch. */
import type { Database } from 'firebase-admin/database';
import { messageOf, type TaskEvent } from '../../domain/events/event.ts';
import type { TaskUpdates } from '../../domain/events/ports.ts';
import { putAmongLatest } from './latest.ts';
import { keyOf, taskUpdatesPath } from './paths.ts';

/** Of each person. Who missed more reads the to-dos again. */
const KEPT = 50;

export class DatabaseTaskUpdates implements TaskUpdates {
  private readonly database: () => Promise<Database>;

  constructor(database: () => Promise<Database>) {
    this.database = database;
  }

  async show(event: TaskEvent): Promise<void> {
    const list = (await this.database()).ref(taskUpdatesPath(event.userId));
    await putAmongLatest(
      list.orderByChild('at'),
      keyOf(event.id),
      { ...messageOf(event), at: event.timestamp.getTime() },
      KEPT,
    );
  }
}
