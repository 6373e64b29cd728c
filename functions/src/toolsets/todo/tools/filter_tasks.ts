import { z } from 'zod';
import { SORT_FIELDS } from '../rules/todo.ts';
import { defineTool, reading } from './todoAnswers.ts';
import { cursor, filters, listed, listShape, pageLimit, sortOrder } from './todoLists.ts';

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
