/**
 * Applies the side effects of changes made without the tools: by the owner's client, or in the Firebase console. The
 * repair ignores the content of the event that triggered it, and reads the current data. Each commit requires the
 * version that was read, so the result does not depend on delays, duplicates or order of the triggers.
 */
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import { isVisible } from '../../../kernel/hiddenCharacters.ts';
import { canonicalJson, type JsonObject, jsonObject } from '../../../kernel/json.ts';
import { guardChanges, guardChangesIfFree } from './duplicateGuard.ts';
import type { TodoChange, TodoPorts } from './ports.ts';
import { followingOccurrence } from './recurring/recurringTasks.ts';
import {
  caseFolded,
  MAX_DESCRIPTION_LENGTH,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  MAX_TITLE_LENGTH,
  type RemindedTodo,
  type Todo,
  todoResponse,
} from './todo.ts';
import { changeContext, differences, reminderChanges, removalEffects, removalId, todoEvent } from './todoChanges.ts';

/** @param before the to-do before its deletion; undefined if unknown or unreadable */
export function repairTodo(ports: TodoPorts, id: string, before: Todo | undefined): Promise<void> {
  return retryOnConflict(ports.randomness, async () => {
    const found = await ports.todos.findReminded(id);
    if (found !== undefined) return repairPresent(ports, found);
    if (before !== undefined) return repairDeleted(ports, before);
    ports.log.warn('todo_gone_unread', { todoId: id });
  });
}

async function repairPresent(ports: TodoPorts, found: RemindedTodo): Promise<void> {
  const now = ports.clock.now();
  const reported = found.lastReported;
  const lastTitle = reported?.['title'];
  const todo = normalizedTodo(found.value, now, typeof lastTitle === 'string' ? lastTitle : undefined);
  const after = todoResponse(todo);
  const states = [reported, todoResponse(found.value), after].map(canonicalJson);
  const changes: TodoChange[] = [];
  if (!found.isIndexCurrent() || new Set(states).size > 1)
    changes.push({
      kind: 'replaceTodo',
      before: reported ? reportedTodo(todo, reported) : todo,
      todo,
      version: found.version,
    });
  if (differences(reported ?? null, after).length > 0) {
    const before = reported && reportedTodo(todo, reported);
    const isDue = !todo.completed && todo.due_date !== undefined;
    const context = await changeContext(ports, todo, now, isDue);
    changes.push(
      { kind: 'recordEvent', event: todoEvent(reported ?? null, todo, after, context) },
      ...reminderChanges(before, todo, found.reminder, context),
      ...(await guardChangesIfFree(ports, before, todo)),
    );
  }
  if (todo.completed) changes.push(...(await followingOccurrence(ports, todo, now)).changes);
  await ports.store.commit(changes);
}

async function repairDeleted(ports: TodoPorts, before: Todo): Promise<void> {
  if ((await ports.taskHistory.find(removalId(before))) !== undefined) return;
  const now = ports.clock.now();
  await ports.store.commit([
    ...removalEffects(before, now),
    ...(await guardChanges(ports, before, undefined)),
    ...(await followingOccurrence(ports, before, now)).changes,
  ]);
}

/** Returns whether the last event of the to-do reported its current state. */
export function isReported({ value, lastReported }: RemindedTodo): boolean {
  return canonicalJson(lastReported) === canonicalJson(todoResponse(value));
}

/** Replaces a title that has no visible characters, if no earlier title is known. */
const UNTITLED = 'Untitled';

/** Returns a valid to-do: long values are truncated, invalid tags dropped. @param lastTitle replaces a blank title */
export function normalizedTodo(todo: Todo, now: Date, lastTitle = UNTITLED): Todo {
  const { completed_at, description, title, ...rest } = todo;
  const tags = new Map<string, string>();
  for (const written of todo.tags) {
    const tag = prefixOf(written.trim(), MAX_TAG_LENGTH);
    if (isVisible(tag) && !tags.has(caseFolded(tag))) tags.set(caseFolded(tag), tag);
  }
  const shown = prefixOf(title.trim(), MAX_TITLE_LENGTH);
  return {
    ...rest,
    title: isVisible(shown) ? shown : lastTitle,
    ...(description !== undefined && { description: prefixOf(description, MAX_DESCRIPTION_LENGTH) }),
    tags: [...tags.values()].slice(0, MAX_TAGS),
    ...(todo.completed && { completed_at: completed_at ?? now }),
  };
}

function prefixOf(text: string, max: number): string {
  return text.length <= max ? text : [...text].slice(0, max).join('').trimEnd();
}

function reportedTodo(todo: Todo, reported: JsonObject): Todo {
  const { due_date: _dueDate, ...rest } = todo;
  const { title, due_date: due, completed } = jsonObject.parse(reported);
  return {
    ...rest,
    title: typeof title === 'string' ? title : todo.title,
    completed: completed === true,
    ...(typeof due === 'string' && { due_date: new Date(due) }),
  };
}
