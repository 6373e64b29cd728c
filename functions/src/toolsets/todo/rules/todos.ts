/** A person's to-dos. Source: spec/todo.md; docs/semantics.md#to-dos. */
import type { RecordAnswer } from '../../../kernel/commit.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import { readFor } from '../../../kernel/ports.ts';
import { searchWords, soughtPrefixes } from '../../../kernel/text.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { guardChanges } from './duplicateGuard.ts';
import { followingOccurrence } from './nextOccurrence.ts';
import type { TaskEvent } from './outbox.ts';
import type { TodoPorts } from './ports.ts';
import { isReported, repairTodo } from './repair.ts';
import {
  addedTags,
  alreadyCompleted,
  checkedTags,
  noWords,
  type Priority,
  requireFuture,
  type Todo,
  type TodoFilter,
  type TodoPage,
  type TodoSort,
  todoAnswer,
  todoNotFound,
  tooManyWords,
  USUAL_PRIORITY,
} from './todo.ts';
import {
  changeContext,
  creationChanges,
  deletionChanges,
  differences,
  type FoundTodos,
  type RemindedTodo,
  replacementChanges,
} from './todoChanges.ts';

/** Of a search: each may cost a query more. */
const MAX_WORDS = 10;

interface TodoDraft {
  readonly title: string;
  readonly description?: string | undefined;
  readonly dueDate?: Date | undefined;
  readonly priority?: Priority | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What is left out stays, what is null goes. */
interface TodoEdit {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly dueDate?: Date | null | undefined;
  readonly priority?: Priority | undefined;
  /** In place of the tags that there are. */
  readonly tags?: readonly string[] | undefined;
  /** Beside the tags that there are. */
  readonly moreTags?: readonly string[] | undefined;
}

export interface EditedOutcome {
  readonly todo: Todo;
  /** The fields that were changed. */
  readonly changed: readonly string[];
}

export interface EndedOutcome {
  readonly todo: Todo;
  /** Where it was an occurrence: the one that follows. */
  readonly next?: Todo;
}

export class TodoService {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /** @throws MusterError VALIDATION_ERROR; CONFLICT, with the reason DUPLICATE_TASK */
  add(ownerUid: string, draft: TodoDraft, recordAnswer: RecordAnswer<Todo>): Promise<Todo> {
    const { clock, randomness, store } = this.ports;
    const tags = checkedTags(draft.tags ?? []);
    return retryStale(randomness, async () => {
      const now = clock.now();
      if (draft.dueDate) requireFuture('due_date', draft.dueDate, now);
      const todo: Todo = {
        id: randomness.uuid(),
        ownerUid,
        title: draft.title.trim(),
        ...(draft.description !== undefined && { description: draft.description }),
        ...(draft.dueDate && { dueDate: draft.dueDate }),
        priority: draft.priority ?? USUAL_PRIORITY,
        tags,
        completed: false,
        createdAt: now,
      };
      const reserved = await guardChanges(this.ports, undefined, todo);
      const isDue = todo.dueDate !== undefined;
      const changes = creationChanges(todo, await changeContext(this.ports, todo, now, isDue));
      await store.commit([...changes, ...reserved], recordAnswer(todo));
      return todo;
    });
  }

  /**
   * @throws MusterError NOT_FOUND, with the reason TASK_NOT_FOUND; VALIDATION_ERROR; CONFLICT, with the reason
   *   DUPLICATE_TASK
   */
  edit(
    ownerUid: string,
    id: string,
    edit: TodoEdit,
    recordAnswer: RecordAnswer<EditedOutcome>,
  ): Promise<EditedOutcome> {
    const { clock, randomness, store } = this.ports;
    return retryStale(randomness, async () => {
      const found = await this.own(ownerUid, id);
      const now = clock.now();
      const todo = edited(found.value, edit);
      const moved = todo.dueDate?.getTime() !== found.value.dueDate?.getTime();
      if (todo.dueDate && moved) requireFuture('due_date', todo.dueDate, now);
      const changed = differences(todoAnswer(found.value), todoAnswer(todo));
      const outcome = { todo, changed };
      const isDue = moved && todo.dueDate !== undefined;
      const context = await changeContext(this.ports, todo, now, isDue);
      const changes = replacementChanges(found, todo, found.reminder, context);
      const reserved = await guardChanges(this.ports, found.value, todo);
      await store.commit([...changes, ...reserved], recordAnswer(outcome));
      return outcome;
    });
  }

  /** @throws MusterError NOT_FOUND, with the reason TASK_NOT_FOUND; CONFLICT where it is completed already */
  complete(ownerUid: string, id: string, recordAnswer: RecordAnswer<EndedOutcome>): Promise<EndedOutcome> {
    const { clock, randomness, store } = this.ports;
    return retryStale(randomness, async () => {
      const found = await this.own(ownerUid, id);
      if (found.value.completed) throw alreadyCompleted(found.value);
      const now = clock.now();
      const todo = { ...found.value, completed: true, completedAt: now };
      const { next, changes: following } = await followingOccurrence(this.ports, found.value, now);
      const outcome = { todo, ...(next && { next }) };
      const changes = [
        ...replacementChanges(found, todo, found.reminder, { eventId: randomness.uuid(), now }),
        ...(await guardChanges(this.ports, found.value, todo)),
        ...following,
      ];
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
  }

  /** @throws MusterError NOT_FOUND, with the reason TASK_NOT_FOUND */
  delete(ownerUid: string, id: string, recordAnswer: RecordAnswer<EndedOutcome>): Promise<EndedOutcome> {
    const { clock, randomness, store } = this.ports;
    return retryStale(randomness, async () => {
      const found = await this.own(ownerUid, id);
      const now = clock.now();
      const { next, changes: following } = await followingOccurrence(this.ports, found.value, now);
      const outcome = { todo: found.value, ...(next && { next }) };
      const changes = [
        ...deletionChanges(found, now),
        ...(await guardChanges(this.ports, found.value, undefined)),
        ...following,
      ];
      await store.commit(changes, recordAnswer(outcome));
      return outcome;
    });
  }

  list(filter: TodoFilter, sort: TodoSort, page: TodoPage): Promise<FoundTodos> {
    return this.ports.todos.list({ ...filter, tags: checkedTags(filter.tags) }, sort, page);
  }

  /** @throws MusterError VALIDATION_ERROR where the query has no word, or too many */
  async search(ownerUid: string, query: string, page: TodoPage): Promise<FoundTodos> {
    const words = soughtPrefixes(searchWords(query));
    if (words.length === 0) throw noWords();
    if (words.length > MAX_WORDS) throw tooManyWords(MAX_WORDS);
    return this.ports.todos.search(ownerUid, words, page);
  }

  /**
   * What happened to a to-do, newest first, also after it was deleted.
   * @throws MusterError NOT_FOUND, with the reason TASK_NOT_FOUND, where nothing of the owner's did
   */
  async history(ownerUid: string, id: string, page: Page): Promise<Slice<TaskEvent>> {
    const slice = await this.ports.taskHistory.history(ownerUid, id, page);
    if (slice.items.length === 0 && page.after === undefined) throw todoNotFound(id, ownerUid);
    return slice;
  }

  /** Repairs first what its owner changed past the tools: an event reports the change from the event before it. */
  private async own(ownerUid: string, id: string): Promise<RemindedTodo> {
    const found = await this.find(ownerUid, id);
    if (isReported(found)) return found;
    await repairTodo(this.ports, id, undefined);
    return this.find(ownerUid, id);
  }

  private async find(ownerUid: string, id: string): Promise<RemindedTodo> {
    const found = await readFor(ownerUid, this.ports.todos.findReminded(id));
    if (found?.value.ownerUid !== ownerUid) throw todoNotFound(id, ownerUid);
    return found;
  }
}

function edited(todo: Todo, edit: TodoEdit): Todo {
  const { description: oldDescription, dueDate: oldDueDate, ...rest } = todo;
  const description = edit.description === undefined ? oldDescription : edit.description;
  const dueDate = edit.dueDate === undefined ? oldDueDate : edit.dueDate;
  const tags = edit.tags ? checkedTags(edit.tags) : todo.tags;
  return {
    ...rest,
    title: edit.title?.trim() ?? todo.title,
    ...(description !== undefined && description !== null && { description }),
    ...(dueDate && { dueDate }),
    priority: edit.priority ?? todo.priority,
    tags: edit.moreTags ? addedTags(tags, edit.moreTags) : tags,
  };
}
