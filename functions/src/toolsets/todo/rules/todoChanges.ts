/** What changes with a to-do, in the one commit that changes it. Source: spec/todo.md, "Side Effects". */
import type { Change, Versioned } from '../../../kernel/commit.ts';
import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { PreferenceReader } from './notifications.ts';
import type { TaskEvent, TaskEventType } from './outbox.ts';
import type { RecurringTask } from './recurrence.ts';
import { type Reminder, reminderBefore } from './reminder.ts';
import {
  type Todo,
  type TodoFilter,
  type TodoPage,
  type TodoPlace,
  type TodoSort,
  todoAnswer,
} from './todo.ts';

/** What events report the change of; the rest of a to-do never changes. */
const REPORTED = [
  'title',
  'description',
  'due_date',
  'priority',
  'tags',
  'completed',
  'completed_at',
] as const;

/** The fields in which two states of a to-do differ. */
export function differences(before: JsonObject | null, after: JsonObject | null): readonly string[] {
  return REPORTED.filter((field) => canonicalJson(before?.[field]) !== canonicalJson(after?.[field]));
}

/** The event of a to-do's being deleted: it happens once. */
export function deletionId(todoId: string): string {
  return `deleted-${todoId}`;
}

/** What an event needs to be one: when it happened, and an id for it. */
interface Happening {
  readonly eventId: string;
  readonly now: Date;
  /** How long before the due date the owner wants to be reminded, where that matters. */
  readonly leadMilliseconds?: number;
}

/** @param isDue whether the to-do gets a due date by it, so that its owner's wishes matter */
export async function happeningTo(
  { ownerUid }: Todo,
  eventId: string,
  now: Date,
  { isDue, preferences }: { readonly isDue: boolean; readonly preferences: PreferenceReader },
): Promise<Happening> {
  if (!isDue) return { eventId, now };
  const { leadMilliseconds } = await preferences.of(ownerUid);
  return { eventId, now, leadMilliseconds };
}

export function todoEvent(
  before: JsonObject | null,
  todo: Todo,
  after: JsonObject | null,
  { eventId, now }: Happening,
): TaskEvent {
  return {
    id: eventId,
    type: eventType(before, after),
    taskId: todo.id,
    userId: todo.ownerUid,
    timestamp: now,
    before,
    after,
    changes: differences(before, after),
  };
}

function eventType(before: JsonObject | null, after: JsonObject | null): TaskEventType {
  if (before === null) return 'created';
  if (after === null) return 'deleted';
  return after['completed'] === true && before['completed'] !== true ? 'completed' : 'updated';
}

/** A to-do comes to be. */
export function creationChanges(todo: Todo, happening: Happening): Change[] {
  return [
    { kind: 'createTodo', todo },
    { kind: 'recordEvent', event: todoEvent(null, todo, todoAnswer(todo), happening) },
    ...reminderChanges(undefined, todo, undefined, happening),
  ];
}

/** A to-do becomes another; nothing where it does not. */
export function replacementChanges(
  before: Versioned<Todo>,
  after: Todo,
  reminder: Versioned<Reminder> | undefined,
  happening: Happening,
): Change[] {
  const [was, is] = [todoAnswer(before.value), todoAnswer(after)];
  if (differences(was, is).length === 0) return [];
  return [
    { kind: 'replaceTodo', todo: after, version: before.version },
    { kind: 'recordEvent', event: todoEvent(was, after, is, happening) },
    ...reminderChanges(before.value, after, reminder, happening),
  ];
}

/** A to-do goes. */
export function deletionChanges({ value: todo, version }: Versioned<Todo>, now: Date): Change[] {
  return [{ kind: 'deleteTodo', id: todo.id, version }, ...goneChanges(todo, now)];
}

/** What goes with a to-do. */
export function goneChanges(todo: Todo, now: Date): Change[] {
  const happening = { eventId: deletionId(todo.id), now };
  return [
    { kind: 'recordEvent', event: todoEvent(todoAnswer(todo), todo, null, happening) },
    { kind: 'deleteReminder', id: todo.id },
  ];
}

/** The due date that a to-do is to be reminded of. */
function awaited(todo: Todo | undefined): Date | undefined {
  return todo?.completed === false ? todo.dueDate : undefined;
}

/**
 * A reminder comes, moves and goes with the due date. While it waits it keeps its distance to the due date; one
 * that its owner has deleted stays away until there is another due date where there was none.
 */
export function reminderChanges(
  before: Todo | undefined,
  after: Todo,
  reminder: Versioned<Reminder> | undefined,
  { now, leadMilliseconds }: Omit<Happening, 'eventId'>,
): Change[] {
  const [was, is] = [awaited(before), awaited(after)];
  const isOver = after.completed && before?.completed === false; // one may have been set without a due date
  if (is === undefined) return was === undefined && !isOver ? [] : [{ kind: 'deleteReminder', id: after.id }];
  if (was === undefined)
    return [{ kind: 'createReminder', reminder: reminderBefore(after, is, now, leadMilliseconds) }];
  if (reminder === undefined) return [];
  const moved = movedReminder(reminder.value, after, { was, is, now, leadMilliseconds });
  return moved ? [{ kind: 'moveReminder', reminder: moved, version: reminder.version }] : [];
}

interface Move {
  readonly was: Date;
  readonly is: Date;
  readonly now: Date;
  readonly leadMilliseconds: number | undefined;
}

function movedReminder(
  reminder: Reminder,
  todo: Todo,
  { was, is, now, leadMilliseconds }: Move,
): Reminder | undefined {
  if (was.getTime() === is.getTime()) {
    return reminder.taskTitle === todo.title || reminder.sent
      ? undefined
      : { ...reminder, taskTitle: todo.title };
  }
  const distance = was.getTime() - reminder.remindAt.getTime();
  return reminder.sent || distance < 0
    ? reminderBefore(todo, is, now, leadMilliseconds)
    : reminderBefore(todo, is, now, distance);
}

/** What commits may change of to-dos, their titles and recurring tasks. */
export interface TodoChanges {
  readonly createTodo: { readonly todo: Todo };
  readonly replaceTodo: { readonly todo: Todo; readonly version: string };
  readonly deleteTodo: { readonly id: string; readonly version: string };
  /** Keeps a title and due date for one open to-do; `replaces` is the version of one that is no longer open. */
  readonly reserveTitle: { readonly id: string; readonly taskId: string; readonly replaces?: string };
  readonly releaseTitle: { readonly id: string };
  readonly createRecurringTask: { readonly recurringTask: RecurringTask };
  readonly replaceRecurringTask: { readonly recurringTask: RecurringTask; readonly version: string };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends TodoChanges {}
}

// How the to-dos' services read.

/** A to-do with its reminder, where it has one. */
export interface RemindedTodo extends Versioned<Todo> {
  readonly reminder?: Versioned<Reminder>;
  /** As the last event told of it; undefined where none has. */
  readonly recorded?: JsonObject;
}

/** A to-do that somebody may have changed past the tools. */
export interface EditedTodo extends RemindedTodo {
  /** Whether the fields that are made from others are as they should be. */
  readonly isDerived: boolean;
}

export interface FoundTodos {
  readonly todos: readonly Todo[];
  /** How many match in all. */
  readonly total: number;
  /** Where the list goes on, if it does. */
  readonly next?: TodoPlace;
}

export interface TodoReader {
  find(id: string): Promise<Versioned<Todo> | undefined>;
  findReminded(id: string): Promise<RemindedTodo | undefined>;
  findEdited(id: string): Promise<EditedTodo | undefined>;
  /** The to-do that has a title and due date for itself. */
  findGuard(id: string): Promise<Versioned<string> | undefined>;
  list(filter: TodoFilter, sort: TodoSort, page: TodoPage): Promise<FoundTodos>;
  /**
   * Those that have all words, each as the beginning of one, in title and description: first those that have
   * them all in the title. A page has the newer before the older of each kind.
   * @param words of soughtPrefixes
   */
  search(ownerUid: string, words: readonly string[], page: TodoPage): Promise<FoundTodos>;
}

export interface RecurringTaskReader {
  find(id: string): Promise<Versioned<RecurringTask> | undefined>;
  /** Newest first. */
  list(
    ownerUid: string,
    withEnded: boolean,
    page: Page,
  ): Promise<Slice<RecurringTask> & { readonly total: number }>;
}

export interface TaskHistory {
  find(id: string): Promise<TaskEvent | undefined>;
  /** What happened to a to-do, newest first. */
  history(ownerUid: string, taskId: string, page: Page): Promise<Slice<TaskEvent>>;
}
