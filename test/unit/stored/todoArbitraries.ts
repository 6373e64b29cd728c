/** Generates arbitrary to-dos and recurring tasks. */
import fc from 'fast-check';
import { isVisible } from '../../../functions/src/kernel/hiddenCharacters.ts';
import type { RecurringTask } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { FREQUENCIES } from '../../../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { checkedTags, MAX_TAG_LENGTH, PRIORITIES, type Todo } from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { date, id, text, whole, withSome } from './arbitraries.ts';

const priority = fc.constantFrom(...PRIORITIES);

/** At most a few tags, because generating sets of unique tags 300 times is slow. */
const tags = fc
  .array(text, { maxLength: 4 })
  .map((written) => checkedTags(written.filter((one) => isVisible(one) && one.trim().length <= MAX_TAG_LENGTH)));

const day = date.map((instant) => instant.toISOString().slice(0, 10));

const plainTodos: fc.Arbitrary<Todo> = withSome(
  {
    id,
    owner_uid: id,
    title: text,
    description: text,
    due_date: date,
    priority,
    tags,
    completed: fc.boolean(),
    completed_at: date,
    created_at: date,
  },
  ['description', 'due_date', 'completed_at'],
);

const occurrences = whole({ recurring_task_id: id, occurs_on: day });

export const todos: fc.Arbitrary<Todo> = fc
  .tuple(plainTodos, fc.option(occurrences, { nil: {} }))
  .map(([todo, occurrence]) => ({ ...todo, ...occurrence }));

export const recurringTasks: fc.Arbitrary<RecurringTask> = withSome(
  {
    id,
    owner_uid: id,
    title: text,
    description: text,
    priority,
    tags,
    frequency: fc.constantFrom(...FREQUENCIES),
    start_date: date,
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
    end_date: date,
    created_at: date,
    latest_on: day,
    latest_due: date,
    ended_at: date,
  },
  ['description', 'end_date', 'ended_at'],
);
