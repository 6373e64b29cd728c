/** Tells people of reminders, in the ways that they chose. Telling again what was told does nothing. */
import type { TaskEvent } from '../events/event.ts';
import type { TodoPorts } from '../todos/ports.ts';
import { type Notification, notificationOf } from './notification.ts';
import type { Device, PushService } from './ports.ts';

export class Notifier {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /** Fails where a device could not be reached for now: what is told already is not told again then. */
  async notify(event: TaskEvent): Promise<void> {
    const notification = notificationOf(event);
    if (notification === undefined) return;
    const { preferences, inbox } = this.ports;
    const { channels } = await preferences.of(notification.uid);
    await inbox.put(notification);
    if (channels.email) await this.mail(notification);
    if (channels.push) await this.push(notification);
  }

  private async mail(notification: Notification): Promise<void> {
    const { people, mail, log } = this.ports;
    const address = await people.verifiedEmail(notification.uid);
    if (address !== undefined) await mail.queue(address, notification);
    else log.info('mail_without_address', { uid: notification.uid });
  }

  private async push(notification: Notification): Promise<void> {
    const { devices, push } = this.ports;
    if (push === undefined) return;
    const known = await devices.of(notification.uid);
    const pushed = await Promise.all(known.map((device) => this.pushTo(device, notification, push)));
    const missed = pushed.filter((isSettled) => !isSettled).length;
    if (missed > 0) throw new Error(`${missed} of ${known.length} devices are still to be told.`);
  }

  /** Whether nothing is left to do for the device. */
  private async pushTo(device: Device, notification: Notification, push: PushService): Promise<boolean> {
    const { deliveries, devices, log } = this.ports;
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
