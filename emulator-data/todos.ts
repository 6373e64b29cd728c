/** Imports a person's to-dos, reminders and recurring to-dos by the same functions as the tools. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { compose } from '../functions/src/composition/compose.ts';
import { externalServices } from '../functions/src/composition/externalServices.ts';
import { FREQUENCIES } from '../functions/src/toolsets/todo/rules/recurring/recurrenceRule.ts';
import { PRIORITIES } from '../functions/src/toolsets/todo/rules/todo.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Schema of a time: a number of days from now, and a time of day in UTC. */
const moment = z.strictObject({ days: z.int().min(1), time: z.iso.time() }).transform(({ days, time }) => {
  const date = new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
  return new Date(`${date}T${time}Z`);
});

const content = {
  title: z.string(),
  description: z.string().optional(),
  priority: z.enum(PRIORITIES).optional(),
  tags: z.array(z.string()).optional(),
};

const seeds = z.strictObject({
  todos: z.array(
    z.strictObject({
      ...content,
      due: moment.optional(),
      remindInMinutes: z.number().optional(),
      completed: z.literal(true).optional(),
    }),
  ),
  recurring: z.array(
    z.strictObject({ ...content, frequency: z.enum(FREQUENCIES), start: moment, timezone: z.string().optional() }),
  ),
});

/** Idempotency key of a call. The import uses none, because it never repeats a call. */
const unkeyed = (): undefined => undefined;

/** Creates a person's to-dos, unless they exist. */
export async function importTodos(ownerUid: string): Promise<void> {
  const { todos, recurringTasks, reminders } = compose(externalServices()).services;
  const sort = { by: 'created_at', order: 'asc' } as const;
  const { total } = await todos.list({ owner_uid: ownerUid, tags: [] }, sort, { limit: 1 });
  if (total > 0) return;
  const seed = seeds.parse(JSON.parse(await readFile(new URL('todos.json', import.meta.url), 'utf8')));
  for (const { due: dueDate, remindInMinutes, completed, ...draft } of seed.todos) {
    const { id } = await todos.add(ownerUid, { ...draft, due_date: dueDate }, unkeyed);
    if (remindInMinutes !== undefined) {
      const remindAt = new Date(Date.now() + remindInMinutes * MINUTE);
      await reminders.set(ownerUid, id, remindAt, unkeyed);
    }
    if (completed) await todos.complete(ownerUid, id, unkeyed);
  }
  for (const { frequency, start: anchor, timezone, ...draft } of seed.recurring)
    await recurringTasks.create(ownerUid, { ...draft, frequency, start_date: anchor, timezone }, unkeyed);
}
