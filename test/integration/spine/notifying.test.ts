/** Each channel that a person has chosen notifies the person once of each reminder. */
import assert from 'node:assert/strict';
import { getAuth } from 'firebase-admin/auth';
import { consoleOrigin } from '../../../functions/src/config.ts';
import { ConsoleLinks } from '../../../functions/src/kernel/consoleLinks.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { notificationOf } from '../../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import { type TaskEvent, TOPICS } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { fcmPushService, localMessagingApp } from '../../../functions/src/vendors/fcm/pushService.ts';
import { LocalFcm } from '../../support/fcm/server.ts';
import { Person } from './person.ts';

describe('reminder notifications', () => {
  const fcm = new LocalFcm();
  let person: Person;
  let event: TaskEvent;

  before(() => fcm.start());
  after(() => fcm.stop());

  beforeEach(() => {
    person = new Person(fcmPushService(() => localMessagingApp(fcm.url)));
    event = person.event('reminder');
  });

  const token = (name: string): string => `${name}-${person.uid}`;
  const notify = (reported = event, by = person): Promise<void> => by.deliver(TOPICS.reminders, reported);
  const shown = (name: string): number => fcm.of(token(name)).length;

  describe("in the person's clients", () => {
    it('are listed once per reminder, oldest first', async () => {
      const later = person.event('reminder', { timestamp: person.after(1) });
      await notify(later);
      await Promise.all([notify(), notify()]);
      await notify(later);
      assert.deepEqual(await person.list('notifications'), [event.id, later.id]);
    });

    it('are not created for other events of a to-do', async () => {
      await notify(person.event('updated'));
      assert.deepEqual(await person.list('notifications'), []);
    });
  });

  describe('by push', () => {
    it('reach each device once even if the event is delivered twice', async () => {
      await person.register('phone', token('phone'));
      await person.register('laptop', token('laptop'));
      await notify();
      await notify();
      assert.deepEqual([shown('phone'), shown('laptop')], [1, 1]);
    });

    it('contain the title of the to-do, and a tag with which a device shows them only once', async () => {
      await person.register('phone', token('phone'));
      await notify();
      const [message] = fcm.of(token('phone'));
      assert.equal(message?.notification.title, 'Water the plants');
      assert.equal(message?.data['task_id'], event.taskId);
      const link = `${consoleOrigin()}/d/${event.taskId}`;
      assert.equal(message?.data['link'], link);
      assert.deepEqual(message?.webpush, { notification: { tag: event.id }, fcmOptions: { link } });
    });

    it("omit a webpush link to the emulators' console, because FCM would reject that link", async () => {
      const notification = notificationOf(event, new ConsoleLinks('http://127.0.0.1:5000'));
      assert.ok(notification);
      const outcome = await fcmPushService(() => localMessagingApp(fcm.url)).send(token('phone'), notification);
      assert.equal(outcome, 'sent');
      const [message] = fcm.of(token('phone'));
      assert.equal(message?.data['link'], `http://127.0.0.1:5000/d/${event.taskId}`);
      assert.deepEqual(message?.webpush, { notification: { tag: event.id } });
    });

    it('reach a device once even if three deliveries run concurrently', async () => {
      await person.register('phone', token('phone'));
      const outcomes = await Promise.allSettled([notify(), notify(), notify()]);
      assert.equal(shown('phone'), 1);
      // Concurrent deliveries after the first fail and are retried, because the first delivery could have crashed.
      assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
      await notify();
      assert.equal(shown('phone'), 1);
    });

    it('cause the deletion of a device whose token is no longer registered', async () => {
      await person.register('old', token('gone'));
      await person.register('phone', token('phone'));
      await notify();
      assert.deepEqual(await person.list('devices'), ['phone']);
      assert.equal(shown('phone'), 1);
    });

    it('do not cause the deletion of a device that registers again during the delivery', async () => {
      await person.register('phone', token('gone'));
      fcm.arrived = () => person.register('phone', token('new'));
      await notify();
      fcm.arrived = async () => undefined;
      assert.deepEqual(await person.list('devices'), ['phone']);
    });

    it('do not cause the deletion of a device if FCM rejects the message; the delivery ends', async () => {
      await person.register('phone', token('bad'));
      await notify();
      assert.deepEqual(await person.list('devices'), ['phone']);
    });

    it('are sent again only to devices that were unreachable', async () => {
      await person.register('phone', token('phone'));
      await person.register('laptop', token('laptop'));
      fcm.down.add(token('laptop'));
      await assert.rejects(notify(), /1 of 2 devices/);
      assert.deepEqual([shown('phone'), shown('laptop')], [1, 0]);
      fcm.down.delete(token('laptop'));
      await notify();
      assert.deepEqual([shown('phone'), shown('laptop')], [1, 1]);
    });

    it('are sent by another instance after the claim of a crashed instance has expired', async () => {
      await person.register('phone', token('phone'));
      await person.app.todo.ports.deliveries.claim(event.id, 'phone');
      await assert.rejects(notify(), /1 of 1 devices/);
      assert.equal(shown('phone'), 0);
      person.pass(61);
      await notify();
      assert.equal(shown('phone'), 1);
    });

    it('are sent to no device if the person has disabled push', async () => {
      await person.register('phone', token('phone'));
      await person.prefer({ push: false });
      await notify();
      assert.equal(shown('phone'), 0);
      assert.deepEqual(await person.list('notifications'), [event.id]);
    });

    it('have a record of each delivery that is kept for two days', async () => {
      await person.register('phone', token('phone'));
      await notify();
      person.pass(2 * 86_400 - 1);
      await person.app.todo.ports.deliveries.expire();
      assert.equal(await person.app.todo.ports.deliveries.claim(event.id, 'phone'), 'delivered');
      person.pass(2 * 86_400 + 1);
      await person.app.todo.ports.deliveries.expire();
      assert.equal(await person.app.todo.ports.deliveries.claim(event.id, 'phone'), 'claimed');
    });
  });

  describe('by email', () => {
    const address = (): string => `${person.uid}@example.com`;
    const signUp = (emailVerified: boolean) =>
      getAuth(firebaseApp()).createUser({ uid: person.uid, email: address(), emailVerified });

    it('are queued as one email per reminder if the person has enabled email', async () => {
      await signUp(true);
      await person.prefer({ email: true, push: false });
      await notify();
      const queued = await person.mail(event.id);
      await notify();
      assert.deepEqual(await person.mail(event.id), queued);
      assert.deepEqual(queued?.['to'], [address()]);
      const { subject, text } = Object(queued?.['message']);
      assert.equal(subject, 'Reminder: Water the plants');
      assert.ok(text.split('\n').includes(`${consoleOrigin()}/d/${event.taskId}`), text);
    });

    it('are not queued by default, and never for an unverified address', async () => {
      await signUp(false);
      await notify();
      assert.equal(await person.mail(event.id), undefined);
      await person.prefer({ email: true });
      await notify();
      assert.equal(await person.mail(event.id), undefined);
    });

    it('have a subject without the line breaks that are in the title of the to-do', async () => {
      await signUp(true);
      await person.prefer({ email: true });
      const after = { task_title: 'Plants\r\nBcc: all@example.com\u2028x' };
      await notify({ ...event, after });
      const { subject } = Object(await person.mail(event.id)).message;
      assert.equal(subject, 'Reminder: Plants Bcc: all@example.com x');
    });
  });
});
