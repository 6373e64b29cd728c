/** A person with to-dos, reminders and a separate clock, over the real services and the emulators. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Change } from '../../../functions/src/composition/changes.ts';
import { type Composition, compose } from '../../../functions/src/composition/compose.ts';
import type { Store } from '../../../functions/src/kernel/commit.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { eventPath, eventReceiptPath, mailPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { realtimeDatabase } from '../../../functions/src/kernel/realtime/database.ts';
import type { TodoPorts } from '../../../functions/src/toolsets/todo/rules/ports.ts';
import type { PushService } from '../../../functions/src/toolsets/todo/rules/reminders/notification.ts';
import { type Reminder, reminderAt } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { sendReminders } from '../../../functions/src/toolsets/todo/rules/reminders/reminders.ts';
import { messageOf, type TaskEvent, type Topic } from '../../../functions/src/toolsets/todo/rules/taskEvent.ts';
import { sampleTodo } from '../../support/builders.ts';
import { externalServicesOf } from '../../support/externalServices.ts';
import { silent } from '../coordination/team.ts';

/** Start time. At this time, no data of other tests is due. */
const START = new Date('1990-01-01T00:00:00.000Z');

export class Person {
  readonly uid = `person-${randomUUID()}`;
  readonly app: Composition;
  now = START;
  private number = 0;

  constructor(push?: PushService) {
    this.app = compose(externalServicesOf({ clock: { now: () => this.now }, push }));
  }

  pass(seconds: number): void {
    this.now = new Date(this.now.getTime() + seconds * 1000);
  }

  after(seconds: number): Date {
    return new Date(this.now.getTime() + seconds * 1000);
  }

  /** Stores an open to-do with a reminder at this time. Returns the id of the to-do and of the reminder. */
  async remind(remindAt: Date, title = 'Water the plants'): Promise<string> {
    const id = `${this.uid}-${++this.number}`;
    const todo = sampleTodo({ id, owner_uid: this.uid, title });
    const reminder = reminderAt(todo, remindAt);
    await this.app.kernel.store.commit([
      { kind: 'createTodo', todo },
      { kind: 'createReminder', reminder },
    ]);
    return id;
  }

  /** Sends due reminders as another instance, which has some ports replaced. */
  sendReminders(changed: Partial<TodoPorts> = {}): Promise<void> {
    return sendReminders({ ...this.app.todo.ports, log: silent, ...changed });
  }

  async reminder(id: string): Promise<Reminder | undefined> {
    return (await this.app.todo.ports.reminders.find(id))?.value;
  }

  /** Returns the ids of the reminder events of a to-do. */
  async sentReminders(taskId: string): Promise<readonly string[]> {
    const found = await firestore().collection('events').where('task_id', '==', taskId).get();
    return found.docs.map((document) => document.id).sort();
  }

  event(type: TaskEvent['type'], changed: Partial<TaskEvent> = {}): TaskEvent {
    return {
      id: randomUUID(),
      type,
      taskId: `${this.uid}-task`,
      userId: this.uid,
      timestamp: this.now,
      before: { title: 'Old' },
      after: type === 'reminder' ? { task_title: 'Water the plants' } : { title: 'New' },
      changes: ['title'],
      ...changed,
    };
  }

  /** Passes an event to the consumer of the topic, as Pub/Sub would. */
  deliver(topic: Topic, event: TaskEvent): Promise<void> {
    const message = { id: randomUUID(), text: JSON.stringify(messageOf(event)) };
    return this.app.services.consumers[topic].receive(message);
  }

  async document(path: string): Promise<Record<string, unknown> | undefined> {
    return (await firestore().doc(path).get()).data();
  }

  audit(eventId: string) {
    return this.document(eventReceiptPath(eventId));
  }

  mail(eventId: string) {
    return this.document(mailPath(eventId));
  }

  storedEvent(eventId: string) {
    return this.document(eventPath(eventId));
  }

  /** Returns the keys of the person's list with this name in the Realtime Database, oldest first. */
  async list(name: 'task-updates' | 'notifications' | 'devices'): Promise<readonly string[]> {
    const found = await (await realtimeDatabase()).ref(`${name}/${this.uid}`).orderByChild('at').get();
    const keys: string[] = [];
    found.forEach((child) => {
      keys.push(child.key);
    });
    return keys;
  }

  async prefer(preferences: object): Promise<void> {
    await firestore().doc(`preferences/${this.uid}`).set(preferences);
  }

  async register(device: string, token: string): Promise<void> {
    const node = (await realtimeDatabase()).ref(`devices/${this.uid}/${device}`);
    await node.set({ token, registered_at: 1 });
  }
}

/** Returns a store whose instance crashes at commit number `at`: before the commit is applied, or just after. */
export function dyingStore(store: Store<Change>, at: number, when: 'before' | 'after'): Store<Change> {
  let commits = 0;
  const death = new Error('the instance was killed');
  return {
    async commit(changes, settled) {
      commits += 1;
      assert.ok(commits <= at, 'a crashed instance commits nothing');
      if (commits === at && when === 'before') throw death;
      await store.commit(changes, settled);
      if (commits === at) throw death;
    },
  };
}
