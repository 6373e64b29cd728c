/** What list_tasks, filter_tasks and sort_tasks have in common. */

import { z } from 'zod';
import type { Principal } from '../../../access/rules/principal.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { listedId } from '../../../kernel/ids.ts';
import { canonicalJson } from '../../../kernel/json.ts';
import type { Services } from '../../../mcp/callContext.ts';
import { type Priority, type TodoPage, type TodoPlace, type TodoSort, todoAnswer } from '../rules/todo.ts';
import { dateOf, taskShape } from './shapes.ts';

// Cursors of the lists of to-dos: opaque to callers, and good for the question that they were made for.

/** What a list whose total is known says of its pages. */
export const pagesShape = {
  total_pages: z.int().optional().describe('How many pages of this limit hold all of it.'),
  has_previous: z.boolean().optional().describe('Whether there is a page before this one.'),
};

/** What a list says of its end. */
export const endShape = {
  truncated: z.boolean().optional().describe('Whether there is more; next_cursor goes on.'),
  next_cursor: z.string().optional(),
};

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

export const MAX_LIMIT = 100;

export const cursor = z
  .string()
  .refine((text) => text.length <= 20_000, 'expected a next_cursor of this tool')
  .optional()
  .describe('next_cursor of the page before');

/** A limit whose bounds the contract does not list. */
export const pageLimit = (usual = 10) =>
  z
    .int()
    .refine((limit) => limit >= 1 && limit <= MAX_LIMIT, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .default(usual)
    .describe(`1 to ${MAX_LIMIT}`);

export const listedLimit = z.int().min(1).max(MAX_LIMIT).default(10).describe('How many');

export function pagesOf(total: number, { limit, cursor: from }: AskedPage) {
  return { total_pages: Math.ceil(total / limit), has_previous: from !== undefined };
}

/** Milliseconds of the epoch that a date can hold, and every smaller number. */
const LARGEST = 8.64e15;

const decoded = z.tuple([z.string(), z.array(z.int().min(-LARGEST).max(LARGEST)).max(4), listedId]);

interface AskedPage {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** @throws MusterError INVALID_FORMAT for what is no cursor of ours, or one of another question */
export function pageOf(question: object, { limit, cursor: encoded }: AskedPage): TodoPage {
  if (encoded === undefined) return { limit };
  const { success, data } = decoded.safeParse(parsed(Buffer.from(encoded, 'base64url').toString()));
  if (success && data[0] === canonicalJson(question))
    return { limit, after: { order: data[1], id: data[2] } };
  throw new MusterError('INVALID_FORMAT', 'This cursor is not one that this list has answered.', {
    field: 'cursor',
    suggestion: 'Send next_cursor with the same arguments as before, or leave the cursor out to start again.',
  });
}

export function endOf(question: object, next: TodoPlace | undefined) {
  if (next === undefined) return { truncated: false };
  const json = JSON.stringify([canonicalJson(question), next.order, next.id]);
  return { truncated: true, next_cursor: Buffer.from(json).toString('base64url') };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
