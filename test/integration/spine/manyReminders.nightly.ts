/** Load test: one run of the schedule sends many reminders that are due at the same time. */
import assert from 'node:assert/strict';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { reminderPath, todoPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { reminderAt, reminderToDocument } from '../../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { todoToDocument } from '../../../functions/src/toolsets/todo/store/todoDocument.ts';
import { sampleTodo } from '../../support/builders.ts';
import { Person } from './person.ts';

const REMINDERS = 10_000;

/** Maximum time, because the schedule runs every minute. docs/guides/operations.md states it and a measured time. */
const MAX_SECONDS = 60;

const WRITES = 500;

describe(`${REMINDERS} reminders that are due at the same time`, () => {
  it(`are sent within ${MAX_SECONDS} seconds`, async () => {
    const person = new Person();
    await addDue(person);
    const began = performance.now();
    await person.sendReminders();
    let runs = 1;
    for (; (await unsent(person)) > 0; runs++) await person.sendReminders();
    const seconds = (performance.now() - began) / 1000;
    console.log(`      ${REMINDERS} reminders: ${seconds.toFixed(1)} s, ${runs} runs`);
    const events = firestore().collection('events').where('user_id', '==', person.uid);
    assert.equal((await events.count().get()).data().count, REMINDERS);
    assert.ok(seconds < MAX_SECONDS, `sending took ${seconds.toFixed(1)} seconds`);
  });
});

async function unsent(person: Person): Promise<number> {
  const due = firestore().collection('reminders').where('owner_uid', '==', person.uid);
  return (await due.where('sent', '==', false).count().get()).data().count;
}

async function addDue(person: Person): Promise<void> {
  for (let first = 0; first < REMINDERS; first += WRITES / 2) {
    const batch = firestore().batch();
    for (let number = first; number < first + WRITES / 2; number++) {
      const todo = sampleTodo({ id: `${person.uid}-${number}`, owner_uid: person.uid, title: `To-do ${number}` });
      batch.set(firestore().doc(todoPath(todo.id)), todoToDocument(todo));
      batch.set(firestore().doc(reminderPath(todo.id)), reminderToDocument(reminderAt(todo, person.now)));
    }
    await batch.commit();
  }
}
