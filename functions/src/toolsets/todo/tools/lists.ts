/** The tools that list to-dos, filter, sort and search them. Source: the to-do specification. */
import { z } from 'zod';
import { textUpTo } from '../../../mcp/tool.ts';
import { SORT_FIELDS } from '../rules/todo.ts';
import { defineTool, reading } from './todoAnswers.ts';
import {
  cursor,
  filters,
  listAnswer,
  listed,
  listedLimit,
  listShape,
  listText,
  pageLimit,
  pageOf,
  sortOrder,
} from './todoLists.ts';

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'To-dos',
  view: 'todos',
  description: 'Lists to-dos, with filters and an order; todo.search_tasks finds words.',
  details:
    'Both ends of a range of due dates belong to it. Tasks without the date that is sorted by come last.',
  input: z.strictObject({
    ...filters,
    sort_by: z.enum(SORT_FIELDS).optional().describe('created_at by default'),
    sort_order: sortOrder,
    limit: listedLimit,
    cursor,
  }),
  output: listShape,
  ...reading,
  example: {
    priority: 'HIGH',
    tags: ['work'],
    due_after: '2099-02-10T00:00:00Z',
    due_before: '2099-02-16T23:59:59Z',
    sort_by: 'due_date',
    sort_order: 'asc',
  },
  text: listText,
  handler: listed,
});

export const filterTasks = defineTool({
  name: 'filter_tasks',
  title: 'To-dos that match',
  description: 'Lists to-dos that match all given criteria; as todo.list_tasks.',
  audience: 'older clients',
  input: z.strictObject({
    ...filters,
    sort_by: z.enum(SORT_FIELDS).exclude(['completed_at']).optional().describe('created_at by default'),
    sort_order: sortOrder,
    limit: pageLimit(),
    cursor,
  }),
  output: listShape,
  ...reading,
  example: {
    priority: 'HIGH',
    tags: ['work'],
    due_after: '2099-02-10T00:00:00Z',
    due_before: '2099-02-16T23:59:59Z',
    completed: false,
    sort_by: 'due_date',
    sort_order: 'asc',
  },
  handler: listed,
});

export const sortTasks = defineTool({
  name: 'sort_tasks',
  title: 'To-dos in an order',
  description: 'Lists all to-dos in an order; as todo.list_tasks.',
  details: 'Those without the date sorted by come last.',
  audience: 'older clients',
  input: z.strictObject({
    sort_by: z.enum(SORT_FIELDS).describe('By what'),
    sort_order: sortOrder,
    limit: pageLimit(),
    cursor,
  }),
  output: listShape,
  ...reading,
  example: { sort_by: 'due_date', sort_order: 'asc', limit: 20 },
  handler: listed,
});

export const searchTasks = defineTool({
  name: 'search_tasks',
  title: 'Search to-dos',
  description: 'Finds to-dos whose title and description have all the words, or words that begin so.',
  details:
    'Case and accents do not count, nor what a word has after 15 letters. Of a very long description with hundreds of long words, the last may not be found. Tasks with all words in the title come first; within an answer the newer come before the older.',
  input: z.strictObject({ query: textUpTo(200).describe('Words to find'), limit: listedLimit, cursor }),
  output: listShape,
  ...reading,
  example: { query: 'meeting' },
  handler: async ({ services, principal }, { query, ...page }) => {
    const found = await services.todos.search(principal.owner_uid, query, pageOf({ query }, page));
    return listAnswer({ services, principal }, { query }, found, page);
  },
});
