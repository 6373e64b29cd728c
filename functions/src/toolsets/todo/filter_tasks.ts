import { z } from 'zod';
import { SORT_FIELDS, SORT_ORDERS } from '../../domain/todos/query.ts';
import { defineTool } from '../../mcp/tool.ts';
import { listed, listShape } from './listing.ts';
import { cursor, pageLimit } from './paging.ts';
import { date, priority, reading, tagFilter } from './shapes.ts';

export const filterTasks = defineTool({
  name: 'filter_tasks',
  title: 'To-dos that match',
  description:
    'Advanced filtering with multiple criteria (priority, tags, due date range, completion status). All of them must hold.',
  input: z.strictObject({
    priority: priority('Filter by priority').optional(),
    tags: tagFilter('Filter by tags (must have ALL specified tags)'),
    due_before: date('Filter tasks due before this date').optional(),
    due_after: date('Filter tasks due after this date').optional(),
    completed: z.boolean().optional().describe('Filter by completion status'),
    sort_by: z
      .enum(SORT_FIELDS)
      .exclude(['completed_at'])
      .optional()
      .describe('Sort field (default: created_at)'),
    sort_order: z.enum(SORT_ORDERS).optional().describe('Sort order (default: desc)'),
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
