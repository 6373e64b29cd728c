/** What a person is told, and how they want to be told it. */
import type { TaskEvent } from '../events/event.ts';
import { DEFAULT_LEAD_MILLISECONDS } from '../reminders/reminder.ts';

const LONGEST_TITLE = 200;

export interface Notification {
  /** The event's: telling it again is telling nothing new. */
  readonly id: string;
  readonly uid: string;
  readonly taskId: string;
  readonly title: string;
  readonly body: string;
  readonly at: Date;
}

export interface Preferences {
  /** How long before its due date a to-do is reminded of. */
  readonly leadMilliseconds: number;
  /** Beside `notifications/{uid}`, which always shows them. */
  readonly channels: { readonly push: boolean; readonly email: boolean };
}

export const DEFAULT_PREFERENCES: Preferences = {
  leadMilliseconds: DEFAULT_LEAD_MILLISECONDS,
  channels: { push: true, email: false },
};

/** Undefined where the event says nothing that a person is told. */
export function notificationOf({ id, type, taskId, userId, timestamp, after }: TaskEvent) {
  if (type !== 'reminder') return undefined;
  const title = typeof after?.['task_title'] === 'string' ? oneLine(after['task_title']) : taskId;
  const isLate = after?.['late'] === true;
  return {
    id,
    uid: userId,
    taskId,
    title,
    body: isLate ? 'A reminder of your to-do, later than it was to be.' : 'A reminder of your to-do.',
    at: timestamp,
  } satisfies Notification;
}

/** A title goes into the subject of a mail, where a line's end would begin another header. */
function oneLine(title: string): string {
  const line = title.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= LONGEST_TITLE ? line : `${characters.slice(0, LONGEST_TITLE - 1).join('')}…`;
}
