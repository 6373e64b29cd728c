/** A person's recurring tasks. Source: spec/todo.md, create_recurring_task; docs/semantics.md#to-dos. */
import type { RecordAnswer, Versioned } from '../../../kernel/commit.ts';
import type { Page } from '../../../kernel/paging.ts';
import { readFor } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { guardChanges } from './duplicateGuard.ts';
import { occurrenceTodo } from './nextOccurrence.ts';
import type { TodoPorts } from './ports.ts';
import { type RecurringTask, type RequestedRule, recurrenceRule } from './recurrence.ts';
import {
  checkedTags,
  type Priority,
  recurringTaskNotFound,
  requireFuture,
  type Todo,
  USUAL_PRIORITY,
} from './todo.ts';
import { changeContext, creationChanges } from './todoChanges.ts';

interface RecurringDraft {
  readonly title: string;
  readonly description?: string | undefined;
  readonly priority?: Priority | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly rule: RequestedRule;
}

/** What is left out stays, what is null goes. */
interface RecurringEdit {
  readonly title?: string | undefined;
  readonly description?: string | null | undefined;
  readonly priority?: Priority | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly frequency?: string | undefined;
  readonly endDate?: Date | null | undefined;
  readonly timezone?: string | undefined;
}

export interface BegunRecurrence {
  readonly recurringTask: RecurringTask;
  readonly first: Todo;
}

export class RecurringTasks {
  private readonly ports: TodoPorts;

  constructor(ports: TodoPorts) {
    this.ports = ports;
  }

  /** @throws MusterError VALIDATION_ERROR; CONFLICT, with the reason DUPLICATE_TASK */
  create(
    ownerUid: string,
    draft: RecurringDraft,
    recordAnswer: RecordAnswer<BegunRecurrence>,
  ): Promise<BegunRecurrence> {
    const { clock, randomness, store } = this.ports;
    const rule = recurrenceRule(draft.rule);
    const tags = checkedTags(draft.tags ?? []);
    return retryStale(randomness, async () => {
      const { firstOccurrence } = await import('./occurrences.ts');
      const now = clock.now();
      requireFuture('start_date', rule.anchor, now);
      const latest = firstOccurrence(rule);
      const recurringTask: RecurringTask = {
        id: randomness.uuid(),
        ownerUid,
        title: draft.title.trim(),
        ...(draft.description !== undefined && { description: draft.description }),
        priority: draft.priority ?? USUAL_PRIORITY,
        tags,
        rule,
        createdAt: now,
        latest,
      };
      const begun = { recurringTask, first: occurrenceTodo(recurringTask, latest, now) };
      const reserved = await guardChanges(this.ports, undefined, begun.first);
      const context = await changeContext(this.ports, begun.first, now, true);
      const created = creationChanges(begun.first, context);
      await store.commit(
        [{ kind: 'createRecurringTask', recurringTask }, ...created, ...reserved],
        recordAnswer(begun),
      );
      return begun;
    });
  }

  /**
   * Changes the occurrences to come; the one that is there stays as it is.
   * @throws MusterError NOT_FOUND; VALIDATION_ERROR
   */
  edit(
    ownerUid: string,
    id: string,
    edit: RecurringEdit,
    recordAnswer: RecordAnswer<RecurringTask>,
  ): Promise<RecurringTask> {
    return this.replace(ownerUid, id, (recurring) => edited(recurring, edit), recordAnswer);
  }

  /**
   * Ends it: no more occurrences come, and the one that is there stays.
   * @throws MusterError NOT_FOUND
   */
  end(ownerUid: string, id: string, recordAnswer: RecordAnswer<RecurringTask>): Promise<RecurringTask> {
    const { clock } = this.ports;
    return this.replace(ownerUid, id, (recurring) => ({ ...recurring, endedAt: clock.now() }), recordAnswer);
  }

  list(ownerUid: string, withEnded: boolean, page: Page) {
    return this.ports.recurringTasks.list(ownerUid, withEnded, page);
  }

  private replace(
    ownerUid: string,
    id: string,
    change: (recurring: RecurringTask) => RecurringTask,
    recordAnswer: RecordAnswer<RecurringTask>,
  ): Promise<RecurringTask> {
    const { randomness, store } = this.ports;
    return retryStale(randomness, async () => {
      const { value, version } = await this.running(ownerUid, id);
      const recurringTask = change(value);
      await store.commit(
        [{ kind: 'replaceRecurringTask', recurringTask, version }],
        recordAnswer(recurringTask),
      );
      return recurringTask;
    });
  }

  private async running(ownerUid: string, id: string): Promise<Versioned<RecurringTask>> {
    const found = await readFor(ownerUid, this.ports.recurringTasks.find(id));
    if (found?.value.ownerUid !== ownerUid || found.value.endedAt) throw recurringTaskNotFound(id, ownerUid);
    return found;
  }
}

function edited(recurring: RecurringTask, edit: RecurringEdit): RecurringTask {
  const { description: old, rule, ...rest } = recurring;
  const description = edit.description === undefined ? old : edit.description;
  const endDate = edit.endDate === undefined ? rule.endDate : edit.endDate;
  return {
    ...rest,
    title: edit.title?.trim() ?? recurring.title,
    ...(description !== undefined && description !== null && { description }),
    priority: edit.priority ?? recurring.priority,
    tags: edit.tags ? checkedTags(edit.tags) : recurring.tags,
    rule: recurrenceRule({
      anchor: rule.anchor,
      frequency: edit.frequency ?? rule.frequency,
      timezone: edit.timezone ?? rule.timezone,
      ...(endDate && { endDate }),
    }),
  };
}
