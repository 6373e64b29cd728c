/** Tells people of reminders, in the ways that they chose. A notification that was delivered is not sent again. */

import type { Device, Notification, PushService } from './notification.ts';
import type { TodoPorts } from './ports.ts';
import { notificationOf } from './reminderMail.ts';
import type { TaskEvent } from './taskEvent.ts';

/** @throws Error where a device cannot be reached for now; what was delivered already is not delivered again then */
export async function notify(ports: TodoPorts, event: TaskEvent): Promise<void> {
  const notification = notificationOf(event, ports.consoleLinks);
  if (notification === undefined) return;
  const { uid } = notification;
  const wanted = await ports.notifications.preferences(uid);
  await ports.clientLists.putNotification(notification);
  if (wanted.email) {
    const address = await ports.verifiedEmail(uid);
    if (address !== undefined) await ports.notifications.queueMail(address, notification);
    else ports.log.info('mail_without_address', { uid });
  }
  const { push } = ports;
  if (!wanted.push || push === undefined) return;
  const devices = await ports.devices.of(uid);
  const told = await Promise.all(devices.map((device) => pushTo(ports, device, notification, push)));
  const missed = told.filter((isDone) => !isDone).length;
  if (missed > 0) throw new Error(`${missed} of ${devices.length} devices are still to be told.`);
}

/** Whether nothing is left to do for the device. */
async function pushTo(
  { deliveries, devices, log }: TodoPorts,
  device: Device,
  notification: Notification,
  push: PushService,
): Promise<boolean> {
  const claim = await deliveries.claim(notification.id, device.id);
  if (claim !== 'claimed') return claim === 'delivered';
  const outcome = await push.send(device.token, notification);
  if (outcome === 'unreachable') {
    await deliveries.release(notification.id, device.id);
    return false;
  }
  await deliveries.markDelivered(notification.id, device.id);
  if (outcome === 'unregistered') await devices.forget(notification.uid, device);
  if (outcome !== 'sent') log.info('push_not_taken', { uid: notification.uid, outcome });
  return true;
}
