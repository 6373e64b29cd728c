/** Arguments and pagination shared by the list tools. */
import { z } from 'zod';
import { canonicalJson, fittingItems } from '../../../kernel/json.ts';
import {
  decodeCursor,
  encodeCursor,
  type ListCursor,
  type ListPage,
  type PageRequest,
} from '../../../kernel/paging.ts';
import { quotedLines, terminalLines } from '../../../kernel/text.ts';
import type { CallContext } from '../../../mcp/callContext.ts';
import { optionalFields } from '../../../mcp/tool.ts';
import type { TodoServices } from '../create.ts';
import type { FoundTodos, TodoPage } from '../rules/ports.ts';
import { SORT_ORDERS, type Todo, type TodoSort, todoResponse } from '../rules/todo.ts';
import { date, dateOf, type delegatedShape, priority, tags, taskShape } from './todoResponses.ts';

export const MAX_LIMIT = 100;

export const cursor = z
  .string()
  .refine((text) => text.length <= 20_000, 'expected a next_cursor of this tool')
  .optional()
  .describe('Previous next_cursor');

/** A limit whose listed schema has no range, as in the to-do specification. */
export const pageLimit = (defaultLimit = 10) =>
  z
    .int()
    .refine((limit) => limit >= 1 && limit <= MAX_LIMIT, `expected a whole number from 1 to ${MAX_LIMIT}`)
    .default(defaultLimit)
    .describe(`1 to ${MAX_LIMIT}`);

export const listedLimit = z.int().min(1).max(MAX_LIMIT).default(10).describe('Maximum');

export const filters = {
  priority: priority('Priority').optional(),
  tags: tags('All of these tags').optional(),
  due_before: date('Latest date').optional(),
  due_after: date('Earliest date').optional(),
  completed: z.boolean().optional().describe('Completed or open'),
};

export const sortOrder = z.enum(SORT_ORDERS).optional().describe('Default: desc');

export const endShape = {
  truncated: z.boolean().optional().describe('Whether more results exist; next_cursor returns them.'),
  next_cursor: z.string().optional(),
};

export const pagesShape = {
  total_pages: z.int().optional().describe('Number of pages with this limit.'),
  has_previous: z.boolean().optional().describe('Whether there is a previous page.'),
  ...endShape,
};

export const listShape = optionalFields({
  tasks: z.array(taskShape),
  total: z.int().describe('Total number of tasks matching filters'),
  ...pagesShape,
});

interface AskedPage {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface AskedList extends AskedPage, z.output<z.ZodObject<typeof filters>> {
  readonly sort_by?: TodoSort['by'] | undefined;
  readonly sort_order?: TodoSort['order'] | undefined;
}

/** Runs the query of list_tasks, filter_tasks and sort_tasks. */
export async function listed({ services, principal }: CallContext<TodoServices>, asked: AskedList) {
  const { sort_by: by = 'created_at', sort_order: order = 'desc', limit, cursor: from, ...criteria } = asked;
  const { due_after, due_before, tags: all = [], ...rest } = criteria;
  const range = { dueAfter: dateOf(due_after), dueBefore: dateOf(due_before) };
  const filter = { ...rest, ...range, owner_uid: principal.owner_uid, tags: all };
  const question = { ...criteria, by, order };
  const found = await services.todos.list(filter, { by, order }, pageOf(question, { limit, cursor: from }));
  return listResponse({ services, principal }, question, found, asked);
}

export async function listResponse(
  { services: { delegation }, principal }: Pick<CallContext<TodoServices>, 'services' | 'principal'>,
  question: object,
  { todos, total, next }: FoundTodos,
  page: AskedPage,
) {
  const progress = await delegation.progress(principal, todos);
  const answerOf = (todo: Todo) => {
    const delegated = progress.get(todo.id);
    return { ...todoResponse(todo), ...(delegated && { delegated }) };
  };
  return { tasks: todos.map(answerOf), total, ...pagesOf(total, page), ...endOf(question, next) };
}

export function pagesOf(total: number, { limit, cursor: from }: AskedPage) {
  return { total_pages: Math.ceil(total / limit), has_previous: from !== undefined };
}

/** @throws MusterError INVALID_FORMAT if the cursor is invalid or belongs to a list with other arguments */
export function pageOf(question: object, { limit, cursor: encoded }: AskedPage): TodoPage {
  const suggestion = 'Send next_cursor as cursor with the same arguments, or omit cursor to start over.';
  const after = decodeCursor(canonicalJson(question), encoded, suggestion);
  return { limit, ...(after && { after }) };
}

function endOf(question: object, next: ListCursor | undefined) {
  if (next === undefined) return { truncated: false };
  return { truncated: true, next_cursor: encodeCursor(canonicalJson(question), next) };
}

/** Returns the page request of a list that is ordered by one time. */
export function timePageOf(question: object, asked: AskedPage): PageRequest {
  const { limit, after } = pageOf(question, asked);
  return { limit, ...(after && { after: { at: new Date(after.order[0] ?? 0), id: after.id } }) };
}

/** Returns the items that fit into a response, and the pagination fields. `timeOf` returns the sort time. */
export function fittingPage<Item extends { readonly id: string }, Answer>(
  question: object,
  { items, more }: ListPage<Item>,
  answerOf: (item: Item) => Answer,
  timeOf: (item: Item) => Date,
) {
  const shown = fittingItems(items, answerOf);
  const last = more || shown.length < items.length ? shown.at(-1) : undefined;
  const end = endOf(question, last && { order: [timeOf(last).getTime()], id: last.id });
  return { answers: shown.map(answerOf), end };
}

export function listText(answer: z.output<typeof listShape>): string {
  const { tasks = [], total = tasks.length, total_pages, has_previous, truncated, next_cursor } = answer;
  const pages = total_pages !== undefined && total_pages > 1 ? `, in ${total_pages} pages` : '';
  const where = has_previous === true ? ', after earlier pages' : '';
  const lines = [`${tasks.length} of ${total} to-dos${pages}${where}`, ...tasks.flatMap(todoLines)];
  if (truncated === true) lines.push(`More: next_cursor ${next_cursor ?? ''}`);
  return terminalLines(lines);
}

function todoLines(todo: z.output<typeof taskShape>): readonly string[] {
  const { id = '', title = '', completed, due_date, priority, tags = [], description, delegated } = todo;
  const parts = [
    priority,
    due_date && `due ${due_date}`,
    ...tags.map((tag) => `#${tag}`),
    todo.completed_at && `completed ${todo.completed_at}`,
    todo.recurring_task_id && `occurrence of ${todo.recurring_task_id}`,
    todo.created_at && `created ${todo.created_at}`,
  ];
  return [
    `[${completed === true ? 'x' : ' '}] ${id}  ${title}`,
    `    ${parts.filter((part) => part).join(', ')}`,
    ...(delegated === undefined ? [] : [`    delegated: ${delegatedText(delegated)}`]),
    ...(description === undefined ? [] : quotedLines(description).map((line) => `  ${line}`)),
  ];
}

function delegatedText(delegated: z.output<typeof delegatedShape>): string {
  const { task_id, workspace, status, done = 0, things = 0, attempts = 0, cost_usd } = delegated;
  const cost = cost_usd === undefined ? 'unknown cost' : `$${cost_usd}`;
  return `${status ?? ''}, ${done} of ${things} items done, ${attempts} attempts, ${cost}, as task ${task_id ?? ''} of the workspace ${workspace ?? ''}`;
}
