/** Changes of a to-do with their side effects, for one commit. Source: the to-do specification, "Side Effects". */
import { type GraphNode, NO_USAGE, titleOf } from '../../../graph/rules/graphNode.ts';
import type { NodeFinder } from '../../../graph/rules/linking.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import { MINUTE_MS, readFor, skipUnreadable } from '../../../kernel/ports.ts';
import type { TodoChange, TodoPorts, TodoQueries } from './ports.ts';
import type { RecurringTask } from './recurring/recurrenceRule.ts';
import { type Reminder, reminderBefore } from './reminders/reminder.ts';
import type { TaskEvent } from './taskEvent.ts';
import { type RemindedTodo, type Todo, todoResponse } from './todo.ts';

/** Fields whose changes an event reports. The other fields of a to-do never change. */
const REPORTED = 'title description due_date priority tags completed completed_at'.split(' ');

/** Returns the reported fields in which two states of a to-do differ. */
export function differences(before: JsonObject | null, after: JsonObject | null): readonly string[] {
  return REPORTED.filter((field) => canonicalJson(before?.[field]) !== canonicalJson(after?.[field]));
}

/** Returns the id of the deletion event, which differs for each deletion of a restored or recreated to-do. */
export function removalId({ id, recurring_task_id, created_at, restored }: Todo): string {
  const removed = recurring_task_id === undefined ? `deleted-${id}` : `withdrawn-${id}-${created_at.getTime()}`;
  return restored === undefined ? removed : `${removed}-${restored}`;
}

interface ChangeContext {
  readonly now: Date;
  readonly eventId: string;
  /** The owner's default time from a reminder to the due date; undefined if the change needs no reminder. */
  readonly leadMilliseconds?: number;
}

/** @param isDue whether the change may set a reminder, so that the owner's preferences must be read */
export async function changeContext(ports: TodoPorts, todo: Todo, now: Date, isDue: boolean) {
  const context = { eventId: ports.randomness.uuid(), now };
  return isDue ? { ...context, leadMilliseconds: await leadOf(ports, todo) } : context;
}

/**
 * Returns the time from a default reminder to the due date, in milliseconds. The recurring to-do determines it, or else
 * the owner's preferences. @param known recurring to-do of an occurrence, if it was read
 */
export async function leadOf(ports: TodoPorts, todo: Todo, known?: RecurringTask): Promise<number> {
  const { recurring_task_id: id, owner_uid } = todo;
  const recurring =
    known ?? (id === undefined ? undefined : (await skipUnreadable(ports.recurringTasks.find(id)))?.value);
  const { reminder_lead_minutes } = recurring ?? {};
  const lead = reminder_lead_minutes ?? (await ports.notifications.preferences(owner_uid)).reminder_lead_minutes;
  return lead * MINUTE_MS;
}

export function todoEvent(
  before: JsonObject | null,
  todo: Todo,
  after: JsonObject | null,
  { eventId, now }: ChangeContext,
): TaskEvent {
  return {
    id: eventId,
    type: eventType(before, after),
    taskId: todo.id,
    userId: todo.owner_uid,
    timestamp: now,
    before,
    after,
    changes: differences(before, after),
  };
}

function eventType(before: JsonObject | null, after: JsonObject | null): TaskEvent['type'] {
  if (before === null) return 'created';
  if (after === null) return 'deleted';
  return after['completed'] === true && before['completed'] !== true ? 'completed' : 'updated';
}

export function creationChanges(todo: Todo, context: ChangeContext): TodoChange[] {
  return [
    { kind: 'createTodo', todo },
    { kind: 'recordEvent', event: todoEvent(null, todo, todoResponse(todo), context) },
    ...reminderChanges(undefined, todo, undefined, context),
  ];
}

/** Returns the changes that replace a to-do; none if the to-do would stay the same. */
export function replacementChanges(before: RemindedTodo, after: Todo, context: ChangeContext): TodoChange[] {
  const { value, version, reminder } = before;
  const [was, is] = [todoResponse(value), todoResponse(after)];
  if (differences(was, is).length === 0) return [];
  return [
    { kind: 'replaceTodo', todo: after, before: value, version },
    { kind: 'recordEvent', event: todoEvent(was, after, is, context) },
    ...reminderChanges(value, after, reminder, context),
  ];
}

export function removalEffects(todo: Todo, now: Date): TodoChange[] {
  const event = todoEvent(todoResponse(todo), todo, null, { eventId: removalId(todo), now });
  return [
    { kind: 'recordEvent', event },
    { kind: 'deleteReminder', id: todo.id },
    { kind: 'updateNode', before: todoNode(todo), after: todoNode(todo, true) },
  ];
}

function isAwaited(todo: Todo | undefined): Date | undefined {
  return todo?.completed === false ? todo.due_date : undefined;
}

/**
 * Returns the changes that a changed due date requires of the reminder. An unsent reminder keeps its distance to the
 * due date. A reminder that the owner deleted is created again only if a to-do without a due date gets one. A
 * reminder that was set on a to-do without a due date stays when the to-do gets a due date.
 */
export function reminderChanges(
  before: Todo | undefined,
  after: Todo,
  reminder: Versioned<Reminder> | undefined,
  { now, leadMilliseconds }: Omit<ChangeContext, 'eventId'>,
): TodoChange[] {
  const [was, is] = [isAwaited(before), isAwaited(after)];
  const isOver = after.completed && before?.completed === false; // A reminder can exist without a due date.
  if (is === undefined) return was === undefined && !isOver ? [] : [{ kind: 'deleteReminder', id: after.id }];
  if (was === undefined && reminder?.value.sent !== false)
    return [{ kind: 'createReminder', reminder: reminderBefore(after, is, now, leadMilliseconds) }];
  if (reminder === undefined) return [];
  const { value: present, version } = reminder;
  if (was === undefined || was.getTime() === is.getTime()) {
    const isRenamed = present.task_title !== after.title && !present.sent;
    const renamed = { ...present, task_title: after.title };
    return isRenamed ? [{ kind: 'moveReminder', reminder: renamed, version }] : [];
  }
  const distance = was.getTime() - present.remind_at.getTime();
  const lead = present.sent || distance < 0 ? leadMilliseconds : distance;
  return [{ kind: 'moveReminder', reminder: reminderBefore(after, is, now, lead), version }];
}

/** Returns the node of a to-do in the graph of items. Source: docs/decisions/0035-graph-and-budgets.md. */
export function todoNode(todo: Todo, isDeleted = false): GraphNode {
  const { id, title, owner_uid, completed, created_at } = todo;
  return {
    kind: 'todo',
    thing_id: id,
    title: titleOf(title),
    owner_uid,
    status: completed ? 'done' : isDeleted ? 'cancelled' : 'open',
    attempts: 0,
    spent: NO_USAGE,
    created_at,
    ...(todo.part_of && { part_of: todo.part_of }),
    ...(todo.ancestors && { ancestors: todo.ancestors }),
    ...(isDeleted && { deleted: isDeleted }),
  };
}

/** Returns the to-do as its last event reported it: a direct change by the owner counts only after its repair. */
export function asReported({ value, lastReported }: RemindedTodo): Todo {
  return lastReported === undefined ? value : { ...value, completed: lastReported['completed'] === true };
}

/** Returns the function that finds the node of a to-do, for its owner and the owner's agents only. */
export function todoNodeFinder(todos: TodoQueries): NodeFinder {
  return async (id, { principal }) => {
    const reading = todos.findReminded(id);
    const found = await (principal ? readFor(principal.owner_uid, reading) : reading);
    if (found === undefined) return undefined;
    if (principal !== undefined && found.value.owner_uid !== principal.owner_uid) return undefined;
    return { value: todoNode(asReported(found)), version: found.version };
  };
}
