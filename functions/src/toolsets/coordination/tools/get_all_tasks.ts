import { z } from 'zod';
import { COORDINATION_STATUSES, storedStatuses } from '../rules/task.ts';
import {
  cursor,
  defineTool,
  pageAfter,
  pageLimit,
  pageOf,
  pageShape,
  taskAnswer,
  taskShape,
} from './coordinationAnswers.ts';

export const getAllTasks = defineTool({
  name: 'get_all_tasks',
  title: 'All tasks',
  description: 'Lists the tasks of the session, oldest first. system.getTaskQueue shows the order of claims.',
  input: z.strictObject({
    status_filter: z
      .enum(['all', ...COORDINATION_STATUSES, 'stuck'])
      .default('all')
      .describe('stuck: those that will never start'),
    limit: pageLimit('1 to 500', 200, 500),
    cursor,
  }),
  output: z.object({ tasks: z.array(taskShape), ...pageShape }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  answersWhole: true,
  role: 'viewer',
  example: { status_filter: 'available' },
  handler: async ({ services, workspace }, { status_filter, limit, cursor: encoded }) => {
    const page = pageAfter(encoded, limit);
    const { coordination } = services;
    const statuses =
      status_filter === 'all' || status_filter === 'stuck' ? undefined : storedStatuses(status_filter);
    const found = await (status_filter === 'stuck'
      ? coordination.listStuck(workspace, page)
      : coordination.listTasks(workspace, statuses, page));
    const { items, end } = pageOf(found, (task) => task.created_at, taskAnswer);
    return { tasks: items, ...end };
  },
});
