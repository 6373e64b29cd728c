import { FieldPath, type Query, type QueryDocumentSnapshot } from '@google-cloud/firestore';
import { addNode, writeNode } from '../../../graph/store/nodes.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { effectsOf } from '../../../kernel/effects.ts';
import {
  COLLECTIONS,
  recurringTaskPath,
  reminderPath,
  titleGuardPath,
  todoPath,
} from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters, EffectsOf } from '../../../kernel/firestore/store.ts';
import { fittingItems } from '../../../kernel/json.ts';
import type { FoundTodos, TodoChanges, TodoPage, TodoQueries } from '../rules/ports.ts';
import type { RecurringTask } from '../rules/recurring/recurrenceRule.ts';
import {
  type Reminder,
  type ReminderChanges,
  reminderFields,
  reminderFromDocument,
} from '../rules/reminders/reminder.ts';
import {
  PRIORITIES,
  type RemindedTodo,
  TODO_FIELDS,
  type Todo,
  type TodoFilter,
  type TodoSort,
  todoFields,
  todoFromDocument,
} from '../rules/todo.ts';
import { todoNode } from '../rules/todoChanges.ts';
import { recurringTaskFields, recurringTaskToDocument } from './reminders.ts';
import * as todoDocument from './todoDocument.ts';

export class FirestoreTodoQueries extends FirestoreReader implements TodoQueries {
  private readonly todos: Query = this.database.collection(COLLECTIONS.todos);

  async find(id: string): Promise<Versioned<Todo> | undefined> {
    const [snapshot] = await this.database.getAll(this.database.doc(todoPath(id)), { fieldMask: [...TODO_FIELDS] });
    return snapshot && this.documents.findVersioned(snapshot, todoFromDocument);
  }

  async findAll(ids: readonly string[]): Promise<readonly (Versioned<Todo> | undefined)[]> {
    const snapshots = await this.database.getAll(...ids.map((id) => this.database.doc(todoPath(id))), {
      fieldMask: [...TODO_FIELDS],
    });
    return snapshots.map((snapshot) => this.documents.findVersioned(snapshot, todoFromDocument));
  }

  async findReminded(id: string): Promise<RemindedTodo | undefined> {
    const paths = [todoPath(id), reminderPath(id)];
    const [todo, due] = await this.database.getAll(...paths.map((path) => this.database.doc(path)));
    const found = todo && this.documents.findVersioned(todo, todoFromDocument);
    if (todo === undefined || found === undefined) return undefined;
    const reminder = due && this.documents.findVersioned(due, reminderFromDocument);
    const data = todo.data();
    return {
      ...found,
      ...(reminder && { reminder }),
      ...todoDocument.lastReportedOf(data),
      isIndexCurrent: () => todoDocument.isIndexCurrent(found.value, data),
    };
  }

  async findGuard(id: string): Promise<Versioned<string> | undefined> {
    const snapshot = await this.database.doc(titleGuardPath(id)).get();
    return this.documents.findVersioned(snapshot, todoDocument.titleGuardFromDocument);
  }

  async list(filter: TodoFilter, sort: TodoSort, { limit, after }: TodoPage): Promise<FoundTodos> {
    const { query, fields } = this.matching(filter, sort);
    let ordered = query;
    for (const field of fields) ordered = ordered.orderBy(field, sort.order);
    ordered = ordered.orderBy(FieldPath.documentId(), sort.order);
    const rest = after === undefined ? ordered : ordered.startAfter(...after.order.slice(0, fields.length), after.id);
    const [counted, { docs }] = await Promise.all([
      ordered.count().get(),
      rest
        .select(...TODO_FIELDS, ...fields)
        .limit(limit + 1)
        .get(),
    ]);
    const page = fittingItems(docs.slice(0, limit), (snapshot) => snapshot.data());
    const last = docs.length > page.length ? page.at(-1) : undefined;
    return {
      todos: page.flatMap((snapshot) => this.documents.readable(snapshot, todoFromDocument)),
      total: counted.data().count,
      ...(last && { next: { order: todoDocument.sortedBy(last.data(), fields), id: last.id } }),
    };
  }

  search(ownerUid: string, words: readonly string[], page: TodoPage): Promise<FoundTodos> {
    return searchTodos(this.todos, { ownerUid, words }, page, (snapshot) =>
      this.documents.readable(snapshot, todoFromDocument),
    );
  }

  /** Returns the query for a filter, and its sort fields. See docs/decisions/0017-to-do-queries-and-search.md. */
  private matching(filter: TodoFilter, sort: TodoSort): { query: Query; fields: readonly string[] } {
    const byPriority = sort.by === 'priority' && filter.priority === undefined;
    const direction = sort.order === 'asc' ? 'up' : 'down';
    const due = `index.due_${direction}`;
    const own = this.todos.where('owner_uid', '==', filter.owner_uid);
    const query = withinDueDates(ofKind(own, filter, byPriority), due, filter);
    const created = 'index.created';
    if (byPriority) return { query, fields: ['index.priority', created, due] };
    if (sort.by === 'due_date') return { query, fields: [due, created] };
    if (sort.by === 'completed_at') return { query, fields: [`index.done_${direction}`, created, due] };
    return { query, fields: [created, due] };
  }
}

/** A query can test one array. If it tests tags, other filters use `in` on their fields, with the same indexes. */
function ofKind(own: Query, filter: TodoFilter, byPriority: boolean): Query {
  const { tags, completed, priority } = filter;
  if (tags.length === 0) return own.where('index.kinds', 'array-contains', todoDocument.kindOf(filter));
  const query = own
    .where('index.tag_sets', 'array-contains', todoDocument.tagSetKey(tags))
    .where('completed', 'in', completed === undefined ? [false, true] : [completed]);
  if (byPriority) return query;
  const ranks = (priority ? [priority] : PRIORITIES).map((one) => PRIORITIES.indexOf(one));
  return query.where('index.priority', 'in', ranks);
}

function withinDueDates(query: Query, due: string, { dueAfter, dueBefore }: TodoFilter): Query {
  if (dueAfter === undefined && dueBefore === undefined) return query;
  const from = dueAfter?.getTime() ?? todoDocument.FIRST_OF_ALL + 1;
  const to = dueBefore?.getTime() ?? todoDocument.LAST_OF_ALL - 1;
  return query.where(due, '>=', from).where(due, '<=', to);
}

export const todoWriters: ChangeWriters<TodoChanges> = {
  createTodo({ todo }, writes) {
    writes.create(todoPath(todo.id), todoDocument.todoToDocument(todo));
    // A restored to-do still has its graph node, which is marked as deleted.
    const before = todo.restored === undefined ? undefined : todoNode(todo, true);
    writeNode(before, todoNode(todo), writes);
  },
  replaceTodo({ before, todo, version }, writes) {
    writes.replace(todoPath(todo.id), todoDocument.todoToDocument(todo), version);
    writeNode(todoNode(before), todoNode(todo), writes);
  },
  delegateTodo({ before, todo: { id, delegated_task_id, ancestors }, version }, writes) {
    writes.replace(todoPath(id), { delegated_task_id: delegated_task_id ?? null, ancestors }, version);
    if (before.ancestors === undefined) addNode(todoNode(before), writes);
  },
  deleteTodo({ todo: { id }, version }, writes) {
    writes.deleteAt(todoPath(id), version);
  },
  reserveTitle({ id, taskId, replaces }, writes) {
    writes.createOrReplace(titleGuardPath(id), { task_id: taskId }, replaces);
  },
  releaseTitle({ id, version }, writes) {
    writes.deleteAt(titleGuardPath(id), version);
  },
  createRecurringTask({ recurringTask }, writes) {
    writes.create(recurringTaskPath(recurringTask.id), recurringTaskToDocument(recurringTask));
  },
  replaceRecurringTask({ recurringTask, version }, writes) {
    writes.replace(recurringTaskPath(recurringTask.id), recurringTaskToDocument(recurringTask), version);
  },
};

type Having = (sought: readonly todoDocument.SearchWord[]) => Query;

/** A found to-do, and the index of the variant of `matchVariants` that it matches. */
interface Match {
  readonly way: number;
  readonly snapshot: QueryDocumentSnapshot;
}

export async function searchTodos(
  todos: Query,
  { ownerUid, words }: { readonly ownerUid: string; readonly words: readonly string[] },
  page: TodoPage,
  readable: (snapshot: QueryDocumentSnapshot) => readonly Todo[],
): Promise<FoundTodos> {
  const having: Having = (sought) =>
    sought.reduce(
      (query, { place, word }) => query.where(new FieldPath('index', 'words', place, word), '==', ownerUid),
      todos,
    );
  const { matches, total } = await firstMatches(having, words, page);
  const shown = fittingItems(matches.slice(0, page.limit), ({ snapshot }) => snapshot.data());
  const last = matches.length > shown.length ? shown.at(-1) : undefined;
  return {
    todos: shown
      .flatMap(({ way, snapshot }) => readable(snapshot).map((todo) => ({ way, todo })))
      .sort((a, b) => a.way - b.way || b.todo.created_at.getTime() - a.todo.created_at.getTime())
      .map(({ todo }) => todo),
    total,
    ...(last && { next: { order: [last.way], id: last.snapshot.id } }),
  };
}

/** Reads the matches of a page and one more, variant by variant, until enough or all matches are found. */
async function firstMatches(having: Having, words: readonly string[], { limit, after }: TodoPage) {
  const ways = todoDocument.matchVariants(words);
  const begin = after?.order[0] ?? 0;
  const read = async (way: number, wanted: number, afterId?: string): Promise<readonly Match[]> => {
    const sought = ways[way];
    if (sought === undefined) return []; // A cursor comes from the caller and can contain any number.
    const ordered = having(sought).orderBy(FieldPath.documentId());
    const rest = afterId === undefined ? ordered : ordered.startAfter(afterId);
    const { docs } = await rest
      .select(...TODO_FIELDS)
      .limit(wanted)
      .get();
    return docs.map((snapshot) => ({ way, snapshot }));
  };
  const counting = having(words.map((word) => ({ place: 'any', word }))).count();
  const [counted, started] = await Promise.all([counting.get(), read(begin, limit + 1, after?.id)]);
  const { count: total } = counted.data();
  const matches = [...started];
  for (let way = begin + 1; way < ways.length; way++) {
    const isAll = after === undefined && matches.length >= total;
    if (isAll || matches.length > limit) break;
    matches.push(...(await read(way, limit + 1 - matches.length)));
  }
  return { matches, total };
}

export const fieldsOfTodos = { todoFields, recurringTaskFields, reminderFields };
const named = (kind: string) => (item: { readonly id: string; readonly owner_uid: string }) => ({
  kind,
  id: item.id,
  owner_uid: item.owner_uid,
});
const ofTodo = effectsOf<Todo>(named('todo'), todoFields.of);
const ofRecurring = effectsOf<RecurringTask>(named('recurring_task'), recurringTaskFields.of);
const ofReminder = effectsOf<Reminder>(named('reminder'), reminderFields.of);

export const todoEffects: EffectsOf<TodoChanges & ReminderChanges> = {
  createTodo: ({ todo }) => ofTodo(todo, { after: todo }),
  replaceTodo: ({ todo, before }) => ofTodo(todo, { before, after: todo }),
  delegateTodo: ({ todo, before }) => ofTodo(todo, { before, after: todo }),
  deleteTodo: ({ todo }) => ofTodo(todo, { before: todo }),
  createRecurringTask: ({ recurringTask: task }) => ofRecurring(task, { after: task }),
  replaceRecurringTask: ({ recurringTask: task, before }) => ofRecurring(task, { before, after: task }),
  setReminder: ({ reminder, before }) => ofReminder(reminder, { before: before?.value, after: reminder }),
  cancelReminder: ({ before: { value } }) => ofReminder(value, { before: value }),
};
