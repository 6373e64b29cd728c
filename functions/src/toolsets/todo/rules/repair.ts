/**
 * Makes what follows from a change that was made past the tools: by its owner with a client, or in the Firebase
 * console. It does not believe the event that calls it but reads what is there now, and each of its commits
 * names the version that it decided on: late, twice and in whatever order it ends the same.
 */
import type { Change } from '../../../kernel/commit.ts';
import { canonicalJson, type JsonObject, jsonObject } from '../../../kernel/json.ts';
import { retryStale } from '../../../kernel/retry.ts';
import { Titles } from './duplicateGuard.ts';
import { Succession } from './nextOccurrence.ts';
import type { TodoPorts } from './ports.ts';
import { addedTags, caseFolded, MAX_TAGS, type Todo, todoAnswer } from './todo.ts';
import {
  deletionId,
  differences,
  type EditedTodo,
  goneChanges,
  happeningTo,
  type RemindedTodo,
  reminderChanges,
  todoEvent,
} from './todoChanges.ts';

export class TodoRepair {
  private readonly ports: TodoPorts;
  private readonly titles: Titles;
  private readonly succession: Succession;

  constructor(ports: TodoPorts) {
    this.ports = ports;
    this.titles = new Titles(ports);
    this.succession = new Succession(ports, this.titles);
  }

  /** @param before the to-do as it was, for where it is gone; undefined where that is unknown or unreadable */
  repair(id: string, before: Todo | undefined): Promise<void> {
    const { todos, randomness, log } = this.ports;
    return retryStale(randomness, async () => {
      const found = await todos.findEdited(id);
      if (found !== undefined) return this.repairPresent(found);
      if (before !== undefined) return this.repairGone(before);
      log.warn('todo_gone_unread', { todoId: id });
    });
  }

  private async repairPresent(found: EditedTodo): Promise<void> {
    const { clock, preferences, randomness, store } = this.ports;
    const now = clock.now();
    const todo = normalised(found.value, now);
    const after = todoAnswer(todo);
    const states = [found.recorded, todoAnswer(found.value), after].map((state) => canonicalJson(state));
    const changes: Change[] = [];
    if (!found.isDerived || new Set(states).size > 1)
      changes.push({ kind: 'replaceTodo', todo, version: found.version });
    if (differences(found.recorded ?? null, after).length > 0) {
      const was = recordedTodo(todo, found.recorded);
      const isDue = !todo.completed && todo.dueDate !== undefined;
      const happening = await happeningTo(todo, randomness.uuid(), now, { isDue, preferences });
      changes.push(
        { kind: 'recordEvent', event: todoEvent(found.recorded ?? null, todo, after, happening) },
        ...reminderChanges(was, todo, found.reminder, happening),
        ...(await this.titles.tolerantChanges(was, todo)),
      );
    }
    if (todo.completed) changes.push(...(await this.succession.after(todo, now)).changes);
    await store.commit(changes);
  }

  private async repairGone(before: Todo): Promise<void> {
    const { clock, store, taskHistory } = this.ports;
    if ((await taskHistory.find(deletionId(before.id))) !== undefined) return;
    const now = clock.now();
    await store.commit([
      ...goneChanges(before, now),
      ...(await this.titles.changes(before, undefined)),
      ...(await this.succession.after(before, now)).changes,
    ]);
  }
}

/** Whether the last event told of the to-do as it is. */
export function isRecorded({ value, recorded }: RemindedTodo): boolean {
  return canonicalJson(recorded) === canonicalJson(todoAnswer(value));
}

/** What a tool would have made of it. */
function normalised(todo: Todo, now: Date): Todo {
  const { completedAt, ...rest } = todo;
  const folded = new Set<string>();
  const tags = todo.tags.filter((tag) => {
    const isNew = tag.trim() !== '' && !folded.has(caseFolded(tag));
    folded.add(caseFolded(tag));
    return isNew;
  });
  return {
    ...rest,
    title: todo.title.trim(),
    tags: addedTags([], tags.slice(0, MAX_TAGS)),
    ...(todo.completed && { completedAt: completedAt ?? now }),
  };
}

/** The to-do as its last event told of it, as far as its title, due date and completion go. */
function recordedTodo(todo: Todo, recorded: JsonObject | undefined): Todo | undefined {
  if (recorded === undefined) return undefined;
  const { dueDate: _dueDate, ...rest } = todo;
  const { title, due_date: due } = jsonObject.parse(recorded);
  return {
    ...rest,
    title: typeof title === 'string' ? title : todo.title,
    completed: recorded['completed'] === true,
    ...(typeof due === 'string' && { dueDate: new Date(due) }),
  };
}
