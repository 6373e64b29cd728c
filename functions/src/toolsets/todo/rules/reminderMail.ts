/** The words of a reminder: of its notification, and of its mail. */
import type { TaskEvent } from './outbox.ts';

export interface Notification {
  /** The event's id: a notification that comes again has the same one. */
  readonly id: string;
  readonly uid: string;
  readonly taskId: string;
  readonly title: string;
  readonly body: string;
  readonly at: Date;
}

const LONGEST_TITLE = 200;

/** A title goes into the subject of a mail, where a line's end would begin another header. */
function oneLine(title: string): string {
  const line = title.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= LONGEST_TITLE ? line : `${characters.slice(0, LONGEST_TITLE - 1).join('')}…`;
}

/** Undefined for an event of which people are not told. */
export function notificationOf(event: TaskEvent): Notification | undefined {
  const { id, type, taskId, userId: uid, timestamp: at, after } = event;
  if (type !== 'reminder') return undefined;
  const title = typeof after?.['task_title'] === 'string' ? oneLine(after['task_title']) : taskId;
  const isLate = after?.['late'] === true;
  const body = isLate ? 'A reminder of your to-do, later than it was to be.' : 'A reminder of your to-do.';
  return { id, uid, taskId, title, body, at };
}

export function reminderMail({ title, body }: Notification) {
  return { subject: `Reminder: ${title}`, text: `${title}\n\n${body}\n` };
}
