import { z } from 'zod';
import { todoAnswer } from '../../domain/todos/todo.ts';
import { defineTool } from '../../mcp/tool.ts';
import { listShape } from './listing.ts';
import { cursor, endOf, listedLimit, pageOf } from './paging.ts';
import { reading } from './shapes.ts';

const MAX_QUERY_LENGTH = 200;

export const searchTasks = defineTool({
  name: 'search_tasks',
  title: 'Search to-dos',
  description:
    'Full-text search across task titles and descriptions: tasks that have all the words, each at the beginning of a word. Case and accents do not count. Matches in the title come first, then the newest.',
  input: z.strictObject({
    query: z
      .string()
      .refine((text) => text.length <= MAX_QUERY_LENGTH, `expected at most ${MAX_QUERY_LENGTH} characters`)
      .describe('Search query (searches title and description)'),
    limit: listedLimit,
    cursor,
  }),
  output: listShape.extend({
    partial: z
      .boolean()
      .optional()
      .describe(
        'True where each of the words is in very many tasks: then only some of these were looked through for the others, and total counts those.',
      ),
  }),
  annotations: reading,
  role: 'viewer',
  example: { query: 'meeting' },
  handler: async ({ services, principal }, { query, limit, cursor: from }) => {
    const page = pageOf({ query }, { limit, cursor: from });
    const found = await services.todos.search(principal.ownerUid, query, page);
    return {
      tasks: found.todos.map(todoAnswer),
      total: found.total,
      ...endOf({ query }, found.next),
      ...(!found.isComplete && { partial: true }),
    };
  },
});
