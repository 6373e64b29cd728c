/** Baseline of the to-do tools: the same Firestore reads, and the same writes in one batch. */
import { randomUUID } from 'node:crypto';
import { FieldPath, type Firestore, type Query, type WriteBatch } from '@google-cloud/firestore';
import {
  COLLECTIONS,
  eventPath,
  preferencesPath,
  recurringTaskPath,
  reminderPath,
  titleGuardPath,
  todoPath,
} from '../../functions/src/kernel/firestore/paths.ts';
import { reminderBefore, reminderToDocument } from '../../functions/src/toolsets/todo/rules/reminders/reminder.ts';
import { TODO_FIELDS, type Todo, todoResponse } from '../../functions/src/toolsets/todo/rules/todo.ts';
import { todoEvent } from '../../functions/src/toolsets/todo/rules/todoChanges.ts';
import { eventToDocument } from '../../functions/src/toolsets/todo/store/events.ts';
import { recurringTaskToDocument } from '../../functions/src/toolsets/todo/store/reminders.ts';
import { todoToDocument } from '../../functions/src/toolsets/todo/store/todoDocument.ts';
import { OWNER } from '../seed.ts';
import { todoNumber } from '../todoSeed.ts';

const DAY = 86_400_000;

/** To-dos of one caller. Each function does the work of the tool with the same name and returns its result. */
export interface BareTodos {
  add(): Promise<object>;
  /** Completes an occurrence of a recurring to-do, and creates the next. */
  complete(): Promise<object>;
  list(): Promise<object>;
}

const LIMIT = 10;

export async function bareTodos(firestore: Firestore, caller: number): Promise<BareTodos> {
  const recurring = firestore.doc(recurringTaskPath(`recurring-${caller}`));
  let [day, added] = [1, 0];
  const first = firestore.batch();
  first.set(recurring, recurringDocument(recurring.id, day));
  first.set(firestore.doc(todoPath(occurrence(recurring.id, day).id)), todoToDocument(occurrence(recurring.id, day)));
  await first.commit();
  return {
    async add() {
      added += 1;
      const todo = { ...todoNumber(0), id: randomUUID(), title: `Number ${added} of ${caller}` };
      await Promise.all(wishesAndTitle(firestore, todo).map((document) => document.get()));
      const batch = firestore.batch();
      create(firestore, batch, todo);
      await batch.commit();
      return todoResponse(todo);
    },
    async complete() {
      const [was, next] = [occurrence(recurring.id, day), occurrence(recurring.id, day + 1)];
      const [todo] = await firestore.getAll(firestore.doc(todoPath(was.id)), firestore.doc(reminderPath(was.id)));
      const [rule] = await Promise.all([
        recurring.get(),
        ...wishesAndTitle(firestore, next).map((document) => document.get()),
      ]);
      if (!todo?.updateTime || !rule.updateTime) throw new Error('No occurrence.');
      const now = new Date();
      const done = { ...was, completed: true, completed_at: now };
      const event = todoEvent(todoResponse(was), done, todoResponse(done), { eventId: randomUUID(), now });
      const batch = firestore.batch();
      batch.update(todo.ref, { ...todoToDocument(done) }, { lastUpdateTime: todo.updateTime });
      batch.create(firestore.doc(eventPath(event.id)), eventToDocument(event));
      batch.delete(firestore.doc(reminderPath(was.id)));
      batch.delete(firestore.doc(titleGuardPath(was.id)));
      batch.update(recurring, { ...recurringDocument(recurring.id, day + 1) }, { lastUpdateTime: rule.updateTime });
      create(firestore, batch, next);
      await batch.commit();
      day += 1;
      return todoResponse(done);
    },
    list: () => listBare(firestore, LIMIT),
  };
}

/** Returns a page of the newest to-dos, and their number. */
export async function listBare(firestore: Firestore, limit: number): Promise<object> {
  const own = firestore
    .collection(COLLECTIONS.todos)
    .where('owner_uid', '==', OWNER)
    .where('index.kinds', 'array-contains', 'all');
  return pageAndCount(own.orderBy('index.created', 'desc').orderBy('index.due_down', 'desc'), limit);
}

/** Returns a page of to-dos with a word in their title, and their number. */
export async function searchBare(firestore: Firestore, word: string, limit: number): Promise<object> {
  const having = (place: string) =>
    firestore.collection(COLLECTIONS.todos).where(new FieldPath('index', 'words', place, word), '==', OWNER);
  return pageAndCount(having('title'), limit, having('any'));
}

async function pageAndCount(page: Query, limit: number, counted = page): Promise<object> {
  const [{ docs }, counts] = await Promise.all([
    page
      .select(...TODO_FIELDS)
      .limit(limit + 1)
      .get(),
    counted.count().get(),
  ]);
  return { tasks: docs.slice(0, limit).map((todo) => todo.data()), total: counts.data().count };
}

/** Reads the data needed before creating a to-do with a due date. */
function wishesAndTitle(firestore: Firestore, { id }: Todo) {
  return [firestore.doc(preferencesPath(OWNER)), firestore.doc(titleGuardPath(id))];
}

function create(firestore: Firestore, batch: WriteBatch, todo: Todo): void {
  const now = new Date();
  const event = todoEvent(null, todo, todoResponse(todo), { eventId: randomUUID(), now });
  const reminder = reminderBefore(todo, todo.due_date ?? now, now);
  batch.create(firestore.doc(todoPath(todo.id)), todoToDocument(todo));
  batch.create(firestore.doc(eventPath(event.id)), eventToDocument(event));
  batch.set(firestore.doc(reminderPath(todo.id)), reminderToDocument(reminder));
  batch.create(firestore.doc(titleGuardPath(todo.id)), { task_id: todo.id });
}

function occurrence(recurringTaskId: string, day: number): Todo {
  const { due, on } = dateOf(day);
  const again = { recurring_task_id: recurringTaskId, occurs_on: on };
  return { ...todoNumber(0), id: `${recurringTaskId}_${on}`, due_date: due, ...again };
}

function recurringDocument(id: string, day: number) {
  const { title, owner_uid: ownerUid, priority, tags, created_at: createdAt } = todoNumber(0);
  const { due: latestDue, on: latestOn } = dateOf(day);
  return recurringTaskToDocument({
    id,
    owner_uid: ownerUid,
    title,
    priority,
    tags,
    created_at: createdAt,
    frequency: 'DAILY',
    start_date: dateOf(1).due,
    timezone: 'UTC',
    latest_on: latestOn,
    latest_due: latestDue,
  });
}

const START = Date.now();

function dateOf(day: number): { readonly due: Date; readonly on: string } {
  const due = new Date(START + day * DAY);
  return { due, on: due.toISOString().slice(0, 10) };
}
