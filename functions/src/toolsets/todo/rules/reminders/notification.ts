/** What a person is told of, and the ways in which devices are told. */
import type { ConsoleLinks } from '../../../../kernel/consoleLinks.ts';
import { oneLine } from '../../../../kernel/hidden.ts';
import { QUESTION, type TaskEvent } from '../taskEvent.ts';

export interface Notification {
  /** The event's id: a notification that comes again has the same one. */
  readonly id: string;
  readonly uid: string;
  /** What it is about: the id of the to-do, or of the request. */
  readonly about: Readonly<Record<'task_id', string>> | Readonly<Record<'request_id', string>>;
  /** How the subject of its mail begins. */
  readonly what: 'Reminder' | 'Question';
  readonly title: string;
  readonly body: string;
  readonly link: string;
  readonly at: Date;
}

/** `unregistered`: the device has gone for good; `refused`: never taken; `unreachable`: may be taken later. */

export type PushOutcome = 'sent' | 'unregistered' | 'refused' | 'unreachable';

export interface PushService {
  send(token: string, notification: Notification): Promise<PushOutcome>;
}

export interface Device {
  readonly id: string;
  readonly token: string;
}

const LONGEST_TITLE = 200;

/** A title goes into the subject of a mail, where a line's end would begin another header. */
function titleLine(title: string): string {
  const line = oneLine(title);
  const characters = [...line];
  return characters.length <= LONGEST_TITLE ? line : `${characters.slice(0, LONGEST_TITLE - 1).join('')}…`;
}

/** Undefined for an event of which people are not told. */
export function notificationOf(event: TaskEvent, links: ConsoleLinks): Notification | undefined {
  const { id, type, taskId, userId: uid, timestamp: at, after } = event;
  if (type === QUESTION) {
    const title = typeof after?.['question'] === 'string' ? titleLine(after['question']) : taskId;
    const body = 'An agent asks you. Answer it in your inbox.';
    const workspace = typeof after?.['workspace'] === 'string' ? after['workspace'] : undefined;
    const link = links.to({ kind: 'request', id: taskId, workspace });
    return { id, uid, about: { request_id: taskId }, what: 'Question', title, body, link, at };
  }
  if (type !== 'reminder') return undefined;
  const title = typeof after?.['task_title'] === 'string' ? titleLine(after['task_title']) : taskId;
  const isLate = after?.['late'] === true;
  const body = isLate ? 'A reminder of your to-do, later than it was to be.' : 'A reminder of your to-do.';
  const link = links.to({ kind: 'todo', id: taskId });
  return { id, uid, about: { task_id: taskId }, what: 'Reminder', title, body, link, at };
}

/** Returns the message of a mail: plain text, with the link on a line of its own. */
export function mailOf({ what, title, body, link }: Notification) {
  return { subject: `${what}: ${title}`, text: `${title}\n\n${body}\n\n${link}\n` };
}
