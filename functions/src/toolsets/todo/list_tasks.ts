import { z } from 'zod';
import { SORT_FIELDS, SORT_ORDERS } from '../../domain/todos/query.ts';
import { defineTool } from '../../mcp/tool.ts';
import { listed, listShape } from './listing.ts';
import { cursor, listedLimit } from './paging.ts';
import { date, priority, reading, tagFilter } from './shapes.ts';

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'To-dos',
  description:
    'List all tasks for the current user with optional filtering and sorting. Both ends of a range of due dates belong to it. Tasks without the date that is sorted by come last.',
  input: z.strictObject({
    priority: priority('Filter by priority level (optional)').optional(),
    tags: tagFilter("Filter by tags (e.g., ['work', 'urgent']): tasks that have all of them"),
    due_before: date('Filter tasks due before this date (ISO 8601, optional)').optional(),
    due_after: date('Filter tasks due after this date (ISO 8601, optional)').optional(),
    completed: z.boolean().optional().describe('Filter by completion status (optional)'),
    sort_by: z.enum(SORT_FIELDS).optional().describe('Sort field (default: created_at)'),
    sort_order: z.enum(SORT_ORDERS).optional().describe('Sort order (default: desc)'),
    limit: listedLimit,
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
