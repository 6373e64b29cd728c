/** Each reminder is sent once, even with concurrent instances, after a crash, or late. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { reminderPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { reminderAt } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { FirestoreReminderQueries } from '../../../functions/src/toolsets/todo/store/reminders.ts';
import { defaultOrNightly } from '../../support/nightly.ts';
import { documents } from '../../support/reading.ts';
import { dyingStore, Person } from './person.ts';

describe('the schedule that sends reminders', () => {
  let person: Person;

  beforeEach(() => {
    person = new Person();
  });

  it('sends due reminders, and does not send later ones yet', async () => {
    const [due, later] = [await person.remind(person.now), await person.remind(person.after(1))];
    await person.sendReminders();
    assert.deepEqual(await person.sentReminders(due), [`reminder-${due}-${person.now.getTime()}`]);
    assert.deepEqual(await person.sentReminders(later), []);
    assert.deepEqual([(await person.reminder(due))?.sent, (await person.reminder(later))?.sent], [true, false]);
    assert.deepEqual((await person.reminder(due))?.sent_at, person.now);
  });

  it('records an event that describes the reminder', async () => {
    const id = await person.remind(person.now);
    await person.sendReminders();
    const at = person.now.toISOString();
    const reminder = { id, task_id: id, task_title: 'Water the plants', remind_at: at };
    const stored = await person.storedEvent(`reminder-${id}-${person.now.getTime()}`);
    assert.equal(stored?.['event_type'], 'reminder');
    assert.equal(stored?.['user_id'], person.uid);
    assert.deepEqual(stored?.['event_data'], {
      before: { ...reminder, sent: false },
      after: { ...reminder, sent: true, sent_at: at },
      changes: ['sent', 'sent_at'],
    });
  });

  it('sends each reminder once even if four instances run it concurrently', async () => {
    const ids = await Promise.all(
      Array.from({ length: defaultOrNightly(20, { night: 60 }) }, () => person.remind(person.now)),
    );
    await Promise.all(Array.from({ length: 4 }, () => person.sendReminders()));
    await person.sendReminders();
    for (const id of ids) assert.equal((await person.sentReminders(id)).length, 1);
  });

  for (const when of ['before', 'after'] as const)
    it(`sends each reminder once even if an instance crashes ${when} a commit`, async () => {
      const ids = await Promise.all(Array.from({ length: 5 }, () => person.remind(person.now)));
      const { store } = person.app.kernel;
      await person.sendReminders({ store: dyingStore(store, 1, when) });
      const sent = (await Promise.all(ids.map((id) => person.sentReminders(id)))).flat().length;
      assert.equal(sent, when === 'before' ? 0 : ids.length);
      await person.sendReminders();
      for (const id of ids) {
        assert.equal((await person.sentReminders(id)).length, 1);
        assert.equal((await person.reminder(id))?.sent, true);
      }
    });

  it('marks a reminder as late if it sends the reminder too late', async () => {
    const [missed, punctual] = [await person.remind(person.now), await person.remind(person.after(3600))];
    person.pass(3600 + 60);
    await person.sendReminders();
    assert.equal((await person.reminder(missed))?.late, true);
    assert.equal((await person.reminder(punctual))?.late, undefined);
    const [sending] = await person.sentReminders(missed);
    const { after } = Object(await person.storedEvent(String(sending))).event_data;
    assert.equal(after.late, true);
  });

  it('sends a reminder again only if the reminder is set to another time', async () => {
    const id = await person.remind(person.now);
    await person.sendReminders();
    const todo = { id, owner_uid: person.uid, title: 'Water the plants' };
    const { store } = person.app.kernel;
    await store.commit([{ kind: 'createReminder', reminder: reminderAt(todo, person.now) }]);
    await person.sendReminders();
    assert.equal((await person.sentReminders(id)).length, 1);
    assert.equal((await person.reminder(id))?.sent, true);
    await store.commit([{ kind: 'createReminder', reminder: reminderAt(todo, person.after(60)) }]);
    person.pass(60);
    await person.sendReminders();
    assert.equal((await person.sentReminders(id)).length, 2);
  });

  it('sends nothing for a to-do that its owner completed or deleted without the tools', async () => {
    const [completed, deleted] = [await person.remind(person.now), await person.remind(person.now)];
    await firestore().doc(todoPath(completed)).update({ completed: true });
    await firestore().doc(todoPath(deleted)).delete();
    await person.sendReminders();
    for (const id of [completed, deleted]) {
      assert.deepEqual(await person.sentReminders(id), []);
      assert.equal(await person.reminder(id), undefined);
    }
  });

  it('skips an unreadable reminder and sends the others', async () => {
    const broken = firestore().doc(reminderPath(`${person.uid}-broken`));
    await broken.set({ sent: false, remind_at: new Date(0) });
    const id = await person.remind(person.now);
    await person.sendReminders({ reminders: new FirestoreReminderQueries(firestore(), documents) });
    assert.equal((await person.sentReminders(id)).length, 1);
    await broken.delete();
  });
});
