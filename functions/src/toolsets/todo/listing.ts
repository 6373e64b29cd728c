/** What list_tasks, filter_tasks and sort_tasks have in common. */
import { z } from 'zod';
import type { Principal } from '../../domain/principal.ts';
import type { Services } from '../../domain/services.ts';
import type { TodoSort } from '../../domain/todos/query.ts';
import { type Priority, todoAnswer } from '../../domain/todos/todo.ts';
import { type AskedPage, endOf, endShape, pageOf, pagesOf, pagesShape } from './paging.ts';
import { dateOf, taskShape } from './shapes.ts';

export const listShape = z
  .object({
    tasks: z.array(taskShape),
    total: z.int().describe('Total number of tasks matching filters'),
    ...pagesShape,
    ...endShape,
  })
  .partial();

interface Filters {
  readonly priority?: Priority | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly due_before?: string | undefined;
  readonly due_after?: string | undefined;
  readonly completed?: boolean | undefined;
}

export async function listed(
  { services, principal }: { readonly services: Services; readonly principal: Principal },
  filters: Filters,
  sort: TodoSort,
  page: AskedPage,
) {
  const question = { ...filters, ...sort };
  const { priority, tags = [], due_after, due_before, completed } = filters;
  const filter = {
    ownerUid: principal.ownerUid,
    priority,
    tags,
    dueAfter: dateOf(due_after),
    dueBefore: dateOf(due_before),
    completed,
  };
  const { todos, total, next } = await services.todos.list(filter, sort, pageOf(question, page));
  return { tasks: todos.map(todoAnswer), total, ...pagesOf(total, page), ...endOf(question, next) };
}
