import { z } from 'zod';
import { SORT_FIELDS } from '../rules/todo.ts';
import { defineTool, reading } from './todoAnswers.ts';
import { cursor, filters, listed, listedLimit, listShape, listText, sortOrder } from './todoLists.ts';

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
