/** A person's to-dos. Source: the to-do specification; docs/semantics.md#to-dos. */
import type { NodeRef } from '../../../graph/rules/graphNode.ts';
import { linkToParent } from '../../../graph/rules/linking.ts';
import type { Principal } from '../../../identity/rules/principal.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import { readFor, Service } from '../../../kernel/ports.ts';
import { searchPrefixes, searchWords } from '../../../kernel/textSearch.ts';
import { guardChanges } from './duplicateGuard.ts';
import type { FoundTodos, TodoChange, TodoPage, TodoPorts } from './ports.ts';
import { checkTimezone, DEFAULT_TIMEZONE, type RequestedRule } from './recurring/recurrenceRule.ts';
import { followingOccurrence } from './recurring/recurringTasks.ts';
import { type ReopenedOutcome, reopenTodo } from './reopening.ts';
import { isReported, repairTodo } from './repair.ts';
import type { TaskEvent } from './taskEvent.ts';
import {
  addedTags,
  alreadyCompleted,
  checkedTags,
  checkedTexts,
  invalid,
  notFound,
  type RemindedTodo,
  requireFuture,
  type Todo,
  type TodoFilter,
  type TodoSort,
  todoResponse,
  type WrittenTexts,
} from './todo.ts';
import { changeContext, creationChanges, differences, removalEffects, replacementChanges } from './todoChanges.ts';

/** Maximum number of words in a search; each word may cost an additional query. */
const MAX_WORDS = 10;

interface TodoDraft extends WrittenTexts {
  readonly due_date?: Date | undefined;
  /** The parent item of the new to-do, the caller who must have access to that item, and the call's workspace. */
  readonly link?: { readonly part_of: NodeRef; readonly principal: Principal; readonly workspace: string };
}

interface TodoEdit extends WrittenTexts {
  readonly due_date?: Date | null | undefined;
  /** Tags to add to the existing ones. */
  readonly moreTags?: readonly string[] | undefined;
}

export interface EditedOutcome {
  readonly todo: Todo;
  readonly changed: readonly string[];
}

export interface EndedOutcome {
  readonly todo: Todo;
  readonly next?: Todo;
}

export class TodoService extends Service<TodoPorts> {
  /** @throws MusterError VALIDATION_ERROR; CONFLICT with the reason DUPLICATE_TASK */
  add(
    ownerUid: string,
    { due_date, link: wanted, ...texts }: TodoDraft,
    recordResponse: RecordResponse<Todo>,
  ): Promise<Todo> {
    const { clock, randomness, store } = this.ports;
    const checked = checkedTexts(texts);
    return retryOnConflict(randomness, async () => {
      const createdAt = clock.now();
      if (due_date) requireFuture('due_date', due_date, createdAt);
      const due = due_date && { due_date };
      const link = wanted && (await linkToParent(this.ports, wanted));
      const id = randomness.uuid();
      const todo: Todo = {
        id,
        owner_uid: ownerUid,
        ...checked,
        ...due,
        completed: false,
        created_at: createdAt,
        ...link?.parents,
      };
      const reserved = await guardChanges(this.ports, undefined, todo);
      const context = await changeContext(this.ports, todo, createdAt, due_date !== undefined);
      const changes = [...creationChanges(todo, context), ...reserved, ...(link?.changes ?? [])];
      await store.commit(changes, recordResponse(todo));
      return todo;
    });
  }

  /**
   * Returns the meaning of a due date or a repetition in words. Source: docs/guides/todos.md#in-words.
   * @throws MusterError VALIDATION_ERROR with the reason NOT_UNDERSTOOD, INVALID_TIMEZONE
   */
  async whenMeant(when: string, timezone = DEFAULT_TIMEZONE): Promise<{ due: Date } | { rule: RequestedRule }> {
    checkTimezone(timezone);
    const [{ DEFAULT_TIME, meaningOf }, { atWallClock, minutesAhead, today }] = await Promise.all([
      import('./words.ts'),
      import('./recurring/occurrences.ts'),
    ]);
    const now = this.ports.clock.now();
    const meaning = meaningOf(when, { instant: now, timezone: minutesAhead(now, timezone) });
    if (meaning === undefined) {
      const suggestion =
        'Use words such as "tomorrow 9:30", "Friday", "in 2 hours", "every weekday at 9:00", "every second Monday", "every first Friday of the month", or use due_date.';
      throw invalid('when', 'NOT_UNDERSTOOD', 'These words are not understood as a date or a repetition.', suggestion);
    }
    const { date, repetition, time = DEFAULT_TIME } = meaning;
    if (repetition === undefined) return { due: atWallClock(date, time, timezone) };
    const isPast = atWallClock(today(now, timezone), time, timezone) <= now;
    const start = atWallClock(today(now, timezone, isPast ? 1 : 0), time, timezone);
    return { rule: { ...repetition, timezone, start_date: start } };
  }

  /** @throws MusterError NOT_FOUND (TASK_NOT_FOUND); VALIDATION_ERROR; CONFLICT with the reason DUPLICATE_TASK */
  edit(ownerUid: string, id: string, edit: TodoEdit, recordResponse: RecordResponse<EditedOutcome>) {
    const { clock, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await this.own(ownerUid, id);
      const now = clock.now();
      const todo = edited(found.value, edit);
      const moved = todo.due_date?.getTime() !== found.value.due_date?.getTime();
      if (todo.due_date && moved) requireFuture('due_date', todo.due_date, now);
      const outcome = { todo, changed: differences(todoResponse(found.value), todoResponse(todo)) };
      const context = await changeContext(this.ports, todo, now, moved && todo.due_date !== undefined);
      const reserved = await guardChanges(this.ports, found.value, todo);
      await store.commit([...replacementChanges(found, todo, context), ...reserved], recordResponse(outcome));
      return outcome;
    });
  }

  /**
   * @param result that of the task to which the to-do was delegated
   * @throws MusterError NOT_FOUND with the reason TASK_NOT_FOUND; CONFLICT if it is already completed
   */
  complete(ownerUid: string, id: string, recordResponse: RecordResponse<EndedOutcome>, result?: string) {
    return this.end(ownerUid, id, recordResponse, (found, now) => {
      if (found.value.completed) throw alreadyCompleted(found.value);
      const ended = { completed: true, completed_at: now, ...(result !== undefined && { delegated_result: result }) };
      const todo = { ...found.value, ...ended };
      const context = { eventId: this.ports.randomness.uuid(), now };
      return { todo, changes: replacementChanges(found, todo, context) };
    });
  }

  /** @throws MusterError NOT_FOUND with the reason TASK_NOT_FOUND; CONFLICT if it is open, or DUPLICATE_TASK */
  reopen(ownerUid: string, id: string, recordResponse: RecordResponse<ReopenedOutcome>): Promise<ReopenedOutcome> {
    return reopenTodo(this.ports, () => this.own(ownerUid, id), recordResponse);
  }

  /** @throws MusterError NOT_FOUND with the reason TASK_NOT_FOUND */
  delete(ownerUid: string, id: string, recordResponse: RecordResponse<EndedOutcome>): Promise<EndedOutcome> {
    return this.end(ownerUid, id, recordResponse, ({ value: todo, version }, now) => ({
      todo,
      changes: [{ kind: 'deleteTodo', todo, version }, ...removalEffects(todo, now)],
    }));
  }

  list(filter: TodoFilter, sort: TodoSort, page: TodoPage): Promise<FoundTodos> {
    return this.ports.todos.list({ ...filter, tags: checkedTags(filter.tags) }, sort, page);
  }

  /** @throws MusterError VALIDATION_ERROR if the query has no word or too many */
  async search(ownerUid: string, query: string, page: TodoPage): Promise<FoundTodos> {
    const words = searchPrefixes(searchWords(query, MAX_WORDS));
    if (words.length === 0) {
      const suggestion = 'Use at least one letter or digit.';
      throw invalid('query', 'NO_WORDS', 'query contains no searchable word.', suggestion);
    }
    if (words.length > MAX_WORDS) {
      const suggestion = 'Use fewer words. A search finds only to-dos that contain all words.';
      throw invalid('query', 'TOO_MANY_WORDS', `A search has at most ${MAX_WORDS} words.`, suggestion);
    }
    return this.ports.todos.search(ownerUid, words, page);
  }

  /**
   * Returns a to-do's events, newest first, even after its deletion. Events expire, so an old to-do may have none.
   * @throws MusterError NOT_FOUND with the reason TASK_NOT_FOUND if the owner has neither the to-do nor its events
   */
  async history(ownerUid: string, id: string, page: PageRequest): Promise<ListPage<TaskEvent>> {
    const slice = await this.ports.taskHistory.history(ownerUid, id, page);
    if (slice.items.length === 0 && page.after === undefined) await this.find(ownerUid, id);
    return slice;
  }

  private end(
    ownerUid: string,
    id: string,
    recordResponse: RecordResponse<EndedOutcome>,
    ending: (found: RemindedTodo, now: Date) => { readonly todo: Todo; readonly changes: readonly TodoChange[] },
  ): Promise<EndedOutcome> {
    const { clock, randomness, store } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await this.own(ownerUid, id);
      const now = clock.now();
      const { todo, changes } = ending(found, now);
      const { next, changes: following } = await followingOccurrence(this.ports, found.value, now);
      const outcome = { todo, ...(next && { next }) };
      const released = await guardChanges(this.ports, found.value, undefined);
      await store.commit([...changes, ...released, ...following], recordResponse(outcome));
      return outcome;
    });
  }

  /** Reads the caller's to-do. A direct change by a client is repaired first, so that it has its own event. */
  private async own(ownerUid: string, id: string): Promise<RemindedTodo> {
    const found = await this.find(ownerUid, id);
    if (isReported(found)) return found;
    await repairTodo(this.ports, id, undefined);
    return this.find(ownerUid, id);
  }

  private async find(ownerUid: string, id: string): Promise<RemindedTodo> {
    const found = await readFor(ownerUid, this.ports.todos.findReminded(id));
    if (found?.value.owner_uid !== ownerUid) throw notFound('Task', id, ownerUid);
    return found;
  }
}

function edited(todo: Todo, edit: TodoEdit): Todo {
  const { description: _, due_date: oldDueDate, ...rest } = todo;
  const { due_date = oldDueDate, moreTags } = edit;
  const checked = checkedTexts(edit, todo);
  const tags = moreTags ? addedTags(checked.tags, moreTags) : checked.tags;
  return { ...rest, ...checked, tags, ...(due_date && { due_date }) };
}
