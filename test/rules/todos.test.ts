/** Access of callers to to-dos and related documents through the database clients, without the tools. */
import assert from 'node:assert/strict';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import {
  collection,
  deleteDoc,
  doc,
  getCount,
  getDoc,
  getDocs,
  limit,
  orderBy,
  query,
  setDoc,
  updateDoc,
  where,
} from 'firebase/firestore/lite';
import { COLLECTIONS, eventPath, reminderPath, todoPath } from '../../functions/src/kernel/firestore/paths.ts';
import { reminderAt, reminderToDocument } from '../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { todoResponse } from '../../functions/src/toolsets/todo/rules/todo.ts';
import { todoEvent } from '../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { eventToDocument } from '../../functions/src/toolsets/todo/store/events.ts';
import { todoToDocument } from '../../functions/src/toolsets/todo/store/todoDocument.ts';
import { sampleTodo } from '../support/builders.ts';
import { callers, OWNER, someOf } from './callers.ts';
import { useEnvironment } from './environment.ts';

const agents = callers.filter(({ claims }) => claims?.['ownerUid'] === OWNER.uid && claims?.['heldTo'] === undefined);
const others = [...agents, ...someOf(callers.filter((caller) => caller !== OWNER && !agents.includes(caller)))];
const HOUR = 3_600_000;
const [PAST, FUTURE] = [new Date(Date.now() - 24 * HOUR), new Date(Date.now() + 24 * HOUR)];
const TODO = sampleTodo({ owner_uid: String(OWNER.uid), due_date: PAST, tags: ['work'] });

/** A character of two UTF-16 units and four bytes. Both the rules and the tools count it as one character. */
const WIDE = '\u{1f600}';

const tagged = (count: number) => Array.from({ length: count }, (_, number) => `tag ${number}`);

interface Bound {
  readonly field: string;
  readonly allowed: readonly unknown[];
  readonly denied: readonly unknown[];
}

const bounds: readonly Bound[] = [
  {
    field: 'title',
    allowed: ['x', 'Réunion', 'x'.repeat(500), WIDE.repeat(500), '会議', '🤖', '\u200bx', 'a\nb'],
    denied: ['', '   ', '\n', '\u200b', '\u3164\u2800', '\u3000', 'x'.repeat(501), WIDE.repeat(501), 7, null, ['x']],
  },
  {
    field: 'description',
    allowed: [null, '', 'x'.repeat(5000), WIDE.repeat(5000)],
    denied: ['x'.repeat(5001), WIDE.repeat(5001), 7, {}],
  },
  { field: 'priority', allowed: ['LOW', 'MEDIUM', 'HIGH'], denied: ['URGENT', 'low', 1, null] },
  {
    field: 'tags',
    allowed: [[], ['work', 'home'], tagged(10), ['x'.repeat(50)], [WIDE.repeat(50)]],
    denied: [
      tagged(11),
      ['x'.repeat(51)],
      [WIDE.repeat(51)],
      [''],
      ['  '],
      ['\u2060'],
      ['work', 7],
      [null],
      'work',
      { 0: 'work' },
      null,
    ],
  },
  {
    field: 'due_date',
    allowed: [FUTURE, null, PAST],
    denied: [new Date(PAST.getTime() - HOUR), new Date(PAST.getTime() + HOUR), FUTURE.toISOString(), 7],
  },
  { field: 'completed', allowed: [true, false], denied: ['yes', 1, null] },
];

/** Fields that only the server may write, each with a changed value of the field's type. */
const closed: Readonly<Record<string, unknown>> = {
  id: 'another',
  owner_uid: 'another',
  created_at: FUTURE,
  completed_at: FUTURE,
  recurring_task_id: 'recurring-1',
  occurs_on: '2030-01-01',
  part_of: { kind: 'task', id: 'task-1' },
  ancestors: ['task-task-1'],
  delegated_task_id: 'task-1',
  delegated_result: 'It is done.',
  index: {},
  recorded: {},
  more: true,
};

describe('rules of to-dos', function () {
  this.timeout(600_000); // The tests take seconds on an idle machine, but much longer on a busy one.

  const environment = useEnvironment();
  let number = 0;

  const asOwner = () => environment.as(OWNER).firestore;
  const asServer = () => environment.unbound.firestore;

  /** Creates a to-do that only one check uses, and returns its path. */
  async function aTodo(): Promise<string> {
    number += 1;
    const id = `rules-${number}`;
    await setDoc(doc(asServer(), todoPath(id)), todoToDocument({ ...TODO, id }));
    return todoPath(id);
  }

  for (const { field, allowed, denied } of bounds)
    it(`the rules of to-dos allow the owner to change ${field} only to allowed values`, async () => {
      for (const value of denied) {
        const path = await aTodo();
        await assertFails(updateDoc(doc(asOwner(), path), { [field]: value }));
        await assertSucceeds(updateDoc(doc(asOwner(), path), { [field]: allowed[0] }));
      }
      for (const value of allowed) await assertSucceeds(updateDoc(doc(asOwner(), await aTodo()), { [field]: value }));
    });

  it('the rules of to-dos allow the owner to change all editable fields in one write', async () => {
    const path = await aTodo();
    await assertSucceeds(updateDoc(doc(asOwner(), path), { completed: true }));
    const edit = { title: 'Other', description: 'More', priority: 'LOW', tags: ['new'], due_date: FUTURE };
    const tags = tagged(10).map((tag) => tag + WIDE.repeat(50 - tag.length));
    const wide = { ...edit, title: WIDE.repeat(500), description: WIDE.repeat(5000), tags };
    await assertSucceeds(updateDoc(doc(asOwner(), path), wide));
    await assertSucceeds(updateDoc(doc(asOwner(), path), { ...edit, completed: false }));
    await assertFails(updateDoc(doc(asOwner(), path), { ...edit, title: 'Again', more: 1 }));
    assert.equal((await getDoc(doc(asOwner(), path))).get('title'), 'Other');
  });

  it('the rules of to-dos do not let the owner change fields that only the server writes', async () => {
    assert.deepEqual(
      Object.keys(todoToDocument(TODO)).toSorted(),
      [...bounds.map(({ field }) => field), ...Object.keys(closed).filter((name) => name !== 'more')].toSorted(),
    );
    for (const [field, value] of Object.entries(closed)) {
      const path = await aTodo();
      await assertFails(updateDoc(doc(asOwner(), path), { [field]: value }));
      await assertFails(updateDoc(doc(asOwner(), path), { [field]: value, title: 'Another title' }));
      await assertSucceeds(updateDoc(doc(asOwner(), path), { title: 'Another title' }));
    }
  });

  it('the rules of to-dos do not let the owner create or delete a to-do', async () => {
    const path = await aTodo();
    const another = doc(asOwner(), `${path}-more`);
    await assertFails(setDoc(another, todoToDocument({ ...TODO, id: another.id })));
    await assertFails(setDoc(doc(asOwner(), path), { title: 'Nothing but a title' }));
    await assertFails(deleteDoc(doc(asOwner(), path)));
    await assertSucceeds(deleteDoc(doc(asServer(), path)));
    await assertFails(updateDoc(doc(asOwner(), path), { title: 'Of one that is gone' }));
  });

  it("the rules of to-dos let no other caller change a to-do, not even the owner's agents", async () => {
    for (const caller of others) {
      const path = await aTodo();
      await assertFails(updateDoc(doc(environment.as(caller).firestore, path), { completed: true }));
      await assertSucceeds(updateDoc(doc(asOwner(), path), { completed: true }));
    }
  });

  it("the rules of to-dos let only its owner and the owner's agents get or query a to-do", async () => {
    const path = await aTodo();
    const own = where('owner_uid', '==', OWNER.uid);
    for (const caller of [OWNER, ...agents]) {
      const { firestore } = environment.as(caller);
      const todos = collection(firestore, COLLECTIONS.todos);
      await assertSucceeds(getDoc(doc(firestore, path)));
      const listed = query(
        todos,
        own,
        where('index.kinds', 'array-contains', 'open'),
        orderBy('index.created', 'desc'),
        orderBy('index.due_down', 'desc'),
        limit(5),
      );
      assert.ok((await assertSucceeds(getDocs(listed))).size > 0);
      const found = query(todos, own, where('index.words.any.presentation', '==', OWNER.uid));
      assert.ok((await assertSucceeds(getCount(found))).data().count > 0);
      await assertFails(getDocs(query(todos, limit(1))));
      await assertFails(getDocs(query(todos, where('owner_uid', '==', 'another'))));
      await assertFails(getDocs(query(todos, where('index.words.any.presentation', '==', OWNER.uid))));
    }
    for (const caller of others.filter((each) => !agents.includes(each))) {
      const { firestore } = environment.as(caller);
      await assertFails(getDoc(doc(firestore, path)));
      await assertFails(getDocs(query(collection(firestore, COLLECTIONS.todos), own)));
    }
  });

  it('the rules of to-dos let the owner read reminders and history, but not write them', async () => {
    const todo = { ...TODO, id: 'rules-told' };
    const event = todoEvent(null, todo, todoResponse(todo), { eventId: 'rules-event', now: PAST });
    const [reminder, happened] = [reminderPath(todo.id), eventPath(event.id)];
    await setDoc(doc(asServer(), reminder), reminderToDocument(reminderAt(todo, FUTURE)));
    await setDoc(doc(asServer(), happened), eventToDocument(event));

    const waiting = query(
      collection(asOwner(), COLLECTIONS.reminders),
      where('owner_uid', '==', OWNER.uid),
      where('sent', '==', false),
      orderBy('remind_at'),
    );
    assert.ok((await assertSucceeds(getDocs(waiting))).docs.some(({ id }) => id === todo.id));
    const history = query(
      collection(asOwner(), COLLECTIONS.events),
      where('user_id', '==', OWNER.uid),
      where('task_id', '==', todo.id),
      orderBy('timestamp', 'desc'),
    );
    const ids = (await assertSucceeds(getDocs(history))).docs.map(({ id }) => id);
    assert.deepEqual(ids, [event.id]);

    for (const caller of [OWNER, ...others]) {
      const { firestore } = environment.as(caller);
      for (const change of [{ sent: true }, { sent: false }, { remind_at: FUTURE }, { late: true }])
        await assertFails(updateDoc(doc(firestore, reminder), change));
      await assertFails(deleteDoc(doc(firestore, reminder)));
      await assertFails(updateDoc(doc(firestore, happened), { event_type: 'deleted' }));
      await assertFails(deleteDoc(doc(firestore, happened)));
      await assertFails(setDoc(doc(firestore, `${happened}-more`), eventToDocument(event)));
    }
    await assertSucceeds(updateDoc(doc(asServer(), reminder), { sent: true }));
    await assertSucceeds(updateDoc(doc(asServer(), happened), { event_type: 'deleted' }));
    await assertSucceeds(deleteDoc(doc(asServer(), happened)));
  });
});
