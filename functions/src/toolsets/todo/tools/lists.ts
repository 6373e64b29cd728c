/** The tools that list, filter, sort and search to-dos. Source: the to-do specification. */
import { z } from 'zod';
import { reading, textUpTo } from '../../../mcp/tool.ts';
import { SORT_FIELDS } from '../rules/todo.ts';
import * as lists from './todoLists.ts';
import { defineTool } from './todoResponses.ts';

const example = {
  priority: 'HIGH' as const,
  tags: ['work'],
  due_after: '2099-02-10T00:00:00Z',
  due_before: '2099-02-16T23:59:59Z',
  sort_by: 'due_date' as const,
  sort_order: 'asc' as const,
};

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'List to-dos',
  view: 'todos',
  description: 'Lists to-dos, filtered and sorted; todo.search_tasks finds words.',
  details: 'Date ranges include both ends. Sorted by a date, to-dos without it are last.',
  input: z.strictObject({
    ...lists.filters,
    sort_by: z.enum(SORT_FIELDS).optional().describe('Default: created_at'),
    sort_order: lists.sortOrder,
    limit: lists.listedLimit,
    cursor: lists.cursor,
  }),
  output: lists.listShape,
  ...reading,
  example,
  text: lists.listText,
  handler: lists.listed,
});

export const filterTasks = defineTool({
  name: 'filter_tasks',
  title: 'Filter to-dos',
  description: 'Lists to-dos matching all criteria, like todo.list_tasks.',
  input: z.strictObject({
    ...lists.filters,
    sort_by: z.enum(SORT_FIELDS).exclude(['completed_at']).optional().describe('Default: created_at'),
    sort_order: lists.sortOrder,
    limit: lists.pageLimit(),
    cursor: lists.cursor,
  }),
  output: lists.listShape,
  ...reading,
  example: { ...example, completed: false },
  handler: lists.listed,
});

export const sortTasks = defineTool({
  name: 'sort_tasks',
  title: 'Sort to-dos',
  description: 'Lists all to-dos sorted, like todo.list_tasks.',
  details: 'To-dos that lack the date come last.',
  input: z.strictObject({
    sort_by: z.enum(SORT_FIELDS).describe('Sort by'),
    sort_order: lists.sortOrder,
    limit: lists.pageLimit(),
    cursor: lists.cursor,
  }),
  output: lists.listShape,
  ...reading,
  example: { sort_by: 'due_date', sort_order: 'asc', limit: 20 },
  handler: lists.listed,
});

export const searchTasks = defineTool({
  name: 'search_tasks',
  title: 'Search to-dos',
  description: 'Finds to-dos whose title and description contain all words or word prefixes.',
  details:
    'Ignores case, accents and letters after the 15th of a word. In descriptions with hundreds of long words, the last ones may not be found. Order: title matches before others, then newest first.',
  input: z.strictObject({
    query: textUpTo(200).describe('Words to find'),
    limit: lists.listedLimit,
    cursor: lists.cursor,
  }),
  output: lists.listShape,
  ...reading,
  example: { query: 'meeting' },
  handler: async ({ services, principal }, { query, ...page }) => {
    const found = await services.todos.search(principal.owner_uid, query, lists.pageOf({ query }, page));
    return lists.listResponse({ services, principal }, { query }, found, page);
  },
});
