/** Notifications to people, and their delivery to devices. */
import type { ConsoleLinks } from '../../../../kernel/consoleLinks.ts';
import { oneLine } from '../../../../kernel/hiddenCharacters.ts';
import { QUESTION, type TaskEvent } from '../taskEvent.ts';

export interface Notification {
  /** Id of the event, so that duplicates of a notification have the same id. */
  readonly id: string;
  readonly uid: string;
  readonly about: Readonly<Partial<Record<'task_id' | 'request_id' | 'session_id', string>>>;
  /** First word of the email's subject. */
  readonly what: 'Reminder' | 'Question' | 'Goal done';
  readonly title: string;
  readonly body: string;
  readonly link: string;
  readonly at: Date;
}

export interface PushService {
  /** `unregistered`: the device no longer exists; `refused`: a retry fails too; `unreachable`: a retry may succeed. */
  send(token: string, notification: Notification): Promise<'sent' | 'unregistered' | 'refused' | 'unreachable'>;
}

export interface Device {
  readonly id: string;
  readonly token: string;
}

const MAX_TITLE_LENGTH = 200;

/** Returns the title on one line, because in an email's subject, a line break would start another header. */
function titleLine(title: string): string {
  const line = oneLine(title);
  const characters = [...line];
  return characters.length <= MAX_TITLE_LENGTH ? line : `${characters.slice(0, MAX_TITLE_LENGTH - 1).join('')}…`;
}

/** Returns the notification for an event; undefined for events that notify no one. */
export function notificationOf(event: TaskEvent, links: ConsoleLinks): Notification | undefined {
  const { id, type, taskId, userId: uid, timestamp: at, after } = event;
  if (type === QUESTION) {
    const title = typeof after?.['question'] === 'string' ? titleLine(after['question']) : taskId;
    const body = 'An agent has a question for you. Answer it in your inbox.';
    const workspace = typeof after?.['workspace'] === 'string' ? after['workspace'] : undefined;
    const link = links.to({ kind: 'request', id: taskId, workspace });
    return { id, uid, about: { request_id: taskId }, what: 'Question', title, body, link, at };
  }
  if (type !== 'reminder') return undefined;
  const title = typeof after?.['task_title'] === 'string' ? titleLine(after['task_title']) : taskId;
  const isLate = after?.['late'] === true;
  const body = isLate ? 'This reminder for your to-do is late.' : 'A reminder for your to-do.';
  const link = links.to({ kind: 'todo', id: taskId });
  return { id, uid, about: { task_id: taskId }, what: 'Reminder', title, body, link, at };
}

/** Returns an email in plain text, with the link on its own line. */
export function emailOf({ what, title, body, link }: Notification) {
  return { subject: `${what}: ${title}`, text: `${title}\n\n${body}\n\n${link}\n` };
}
