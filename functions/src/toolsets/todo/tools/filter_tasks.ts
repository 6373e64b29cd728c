import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { SORT_FIELDS, SORT_ORDERS } from '../rules/todo.ts';
import { cursor, listed, listShape, pageLimit } from './listing.ts';
import { date, priority, reading, tagFilter } from './shapes.ts';

export const filterTasks = defineTool({
  name: 'filter_tasks',
  title: 'To-dos that match',
  description: 'Lists to-dos that match all given criteria; as todo_list_tasks.',
  input: z.strictObject({
    priority: priority('Of this priority').optional(),
    tags: tagFilter('All of these tags'),
    due_before: date('Due until then').optional(),
    due_after: date('Due from then').optional(),
    completed: z.boolean().optional().describe('Completed or open'),
    sort_by: z.enum(SORT_FIELDS).exclude(['completed_at']).optional().describe('created_at by default'),
    sort_order: z.enum(SORT_ORDERS).optional().describe('desc by default'),
    limit: pageLimit(),
    cursor,
  }),
  output: listShape,
  annotations: reading,
  role: 'viewer',
  example: {
    priority: 'HIGH',
    tags: ['work'],
    due_after: '2099-02-10T00:00:00Z',
    due_before: '2099-02-16T23:59:59Z',
    completed: false,
    sort_by: 'due_date',
    sort_order: 'asc',
  },
  handler: (context, { sort_by, sort_order, limit, cursor: from, ...filters }) =>
    listed(
      context,
      filters,
      { by: sort_by ?? 'created_at', order: sort_order ?? 'desc' },
      { limit, cursor: from },
    ),
});
