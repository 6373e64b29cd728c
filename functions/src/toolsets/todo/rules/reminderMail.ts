/** What a reminder says: its line in a client and in a push, and the mail that is made of it. */
import type { TaskEvent } from './outbox.ts';

const LONGEST_TITLE = 200;

export interface Notification {
  /** The event's id: a notification that comes again has the same one. */
  readonly id: string;
  readonly uid: string;
  readonly taskId: string;
  readonly title: string;
  readonly body: string;
  readonly at: Date;
}

/** Undefined for an event of which people are not told. */
export function notificationOf({
  id,
  type,
  taskId,
  userId,
  timestamp,
  after,
}: TaskEvent): Notification | undefined {
  if (type !== 'reminder') return undefined;
  const title = typeof after?.['task_title'] === 'string' ? oneLine(after['task_title']) : taskId;
  const isLate = after?.['late'] === true;
  const body = isLate ? 'A reminder of your to-do, later than it was to be.' : 'A reminder of your to-do.';
  return { id, uid: userId, taskId, title, body, at: timestamp };
}

export function reminderMail({ title, body }: Notification) {
  return { subject: `Reminder: ${title}`, text: `${title}\n\n${body}\n` };
}

/** A title goes into the subject of a mail, where a line's end would begin another header. */
function oneLine(title: string): string {
  const line = title.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= LONGEST_TITLE ? line : `${characters.slice(0, LONGEST_TITLE - 1).join('')}…`;
}
