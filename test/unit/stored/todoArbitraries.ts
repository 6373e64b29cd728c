/** Any to-do and any recurring task that the domain can hold. */
import fc from 'fast-check';
import { isVisible } from '../../../functions/src/kernel/hidden.ts';
import type { RecurringTask } from '../../../functions/src/toolsets/todo/rules/recurrenceRule.ts';
import { FREQUENCIES } from '../../../functions/src/toolsets/todo/rules/recurrenceRule.ts';
import {
  checkedTags,
  MAX_TAG_LENGTH,
  PRIORITIES,
  type Todo,
} from '../../../functions/src/toolsets/todo/rules/todo.ts';
import { date, id, text, whole, withSome } from './arbitraries.ts';

const priority = fc.constantFrom(...PRIORITIES);

/** Fewer than ten, whose sets take their time to make 300 times over. */
const tags = fc
  .array(text, { maxLength: 4 })
  .map((written) =>
    checkedTags(written.filter((one) => isVisible(one) && one.trim().length <= MAX_TAG_LENGTH)),
  );

const day = date.map((instant) => instant.toISOString().slice(0, 10));

const plainTodos: fc.Arbitrary<Todo> = withSome(
  {
    id,
    ownerUid: id,
    title: text,
    description: text,
    dueDate: date,
    priority,
    tags,
    completed: fc.boolean(),
    completedAt: date,
    createdAt: date,
  },
  ['description', 'dueDate', 'completedAt'],
);

const occurrences = whole({ recurringTaskId: id, occursOn: day });

export const todos: fc.Arbitrary<Todo> = fc
  .tuple(plainTodos, fc.option(occurrences, { nil: {} }))
  .map(([todo, occurrence]) => ({ ...todo, ...occurrence }));

export const recurringTasks: fc.Arbitrary<RecurringTask> = withSome(
  {
    id,
    ownerUid: id,
    title: text,
    description: text,
    priority,
    tags,
    frequency: fc.constantFrom(...FREQUENCIES),
    anchor: date,
    timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
    endDate: date,
    createdAt: date,
    latestOn: day,
    latestDue: date,
    endedAt: date,
  },
  ['description', 'endDate', 'endedAt'],
);
