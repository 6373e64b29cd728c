/** What a person is told of, and the ways in which devices are told. */

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
  /** The console's page of what it is about. */
  readonly link: string;
  readonly at: Date;
}

/**
 * What became of a push: `unregistered`, the device has gone for good; `refused`, it will never be taken;
 * `unreachable`, it may be taken later.
 */

export type PushOutcome = 'sent' | 'unregistered' | 'refused' | 'unreachable';

export interface PushService {
  send(token: string, notification: Notification): Promise<PushOutcome>;
}

export interface Device {
  readonly id: string;
  readonly token: string;
}
