import { z } from 'zod';
import { SORT_FIELDS } from '../rules/todo.ts';
import { defineTool, reading } from './todoAnswers.ts';
import { cursor, listed, listShape, pageLimit, sortOrder } from './todoLists.ts';

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
