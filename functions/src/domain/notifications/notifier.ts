/** Tells people of reminders, in the ways that they chose. Telling again what was told does nothing. */
import type { TaskEvent } from '../events/event.ts';
import type { Log } from '../ports.ts';
import { type Notification, notificationOf } from './notification.ts';
import type {
  Deliveries,
  Device,
  Devices,
  Inbox,
  MailQueue,
  People,
  PreferenceReader,
  PushService,
} from './ports.ts';

export interface NotifierDependencies {
  readonly preferences: PreferenceReader;
  readonly inbox: Inbox;
  readonly devices: Devices;
  readonly deliveries: Deliveries;
  readonly people: People;
  readonly mail: MailQueue;
  readonly push: PushService | undefined;
  readonly log: Log;
}

export class Notifier {
  private readonly dependencies: NotifierDependencies;

  constructor(dependencies: NotifierDependencies) {
    this.dependencies = dependencies;
  }

  /** Fails where a device could not be reached for now: what is told already is not told again then. */
  async notify(event: TaskEvent): Promise<void> {
    const notification = notificationOf(event);
    if (notification === undefined) return;
    const { preferences, inbox } = this.dependencies;
    const { channels } = await preferences.of(notification.uid);
    await inbox.put(notification);
    if (channels.email) await this.mail(notification);
    if (channels.push) await this.push(notification);
  }

  private async mail(notification: Notification): Promise<void> {
    const { people, mail, log } = this.dependencies;
    const address = await people.verifiedEmail(notification.uid);
    if (address !== undefined) await mail.queue(address, notification);
    else log.info('mail_without_address', { uid: notification.uid });
  }

  private async push(notification: Notification): Promise<void> {
    const { devices, push } = this.dependencies;
    if (push === undefined) return;
    const known = await devices.of(notification.uid);
    const pushed = await Promise.all(known.map((device) => this.pushTo(device, notification, push)));
    const missed = pushed.filter((isSettled) => !isSettled).length;
    if (missed > 0) throw new Error(`${missed} of ${known.length} devices are still to be told.`);
  }

  /** Whether nothing is left to do for the device. */
  private async pushTo(device: Device, notification: Notification, push: PushService): Promise<boolean> {
    const { deliveries, devices, log } = this.dependencies;
    const claim = await deliveries.claim(notification.id, device.id);
    if (claim !== 'claimed') return claim === 'settled';
    const outcome = await push.send(device.token, notification);
    if (outcome === 'unreachable') {
      await deliveries.release(notification.id, device.id);
      return false;
    }
    await deliveries.settle(notification.id, device.id);
    if (outcome === 'unregistered') await devices.forget(notification.uid, device);
    if (outcome !== 'sent') log.info('push_not_taken', { uid: notification.uid, outcome });
    return true;
  }
}
