/** The pages of lists that go by one time. */
import type { Page } from '../../domain/readers.ts';
import type { TodoPage, TodoPlace } from '../../domain/todos/query.ts';

export function timePage({ limit, after }: TodoPage): Page {
  return { limit, ...(after && { after: { at: new Date(after.order[0] ?? 0), id: after.id } }) };
}

export function timePlace(at: Date, id: string): TodoPlace {
  return { order: [at.getTime()], id };
}
