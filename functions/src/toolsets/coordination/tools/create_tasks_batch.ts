import { z } from 'zod';
import { partOf } from '../../../graph/rules/graphNode.ts';
import { MAX_BATCH } from '../rules/creation.ts';
import type { Task } from '../rules/task.ts';
import { defineTool, draftOf, priority, taskArguments } from './coordinationAnswers.ts';

export const createTasksBatch = defineTool({
  name: 'create_tasks_batch',
  title: 'Create several tasks',
  description:
    'Adds several tasks at once, all or none. In dependencies, "task-N" is the N-th task of this batch, counted from 1.',
  input: z.strictObject({
    tasks: z
      .array(z.strictObject({ ...taskArguments, priority: priority.optional() }))
      .refine((tasks) => tasks.length >= 1 && tasks.length <= MAX_BATCH, `expected 1 to ${MAX_BATCH} tasks`)
      .describe('Tasks to create'),
    part_of: partOf.describe('Of those that name none'),
  }),
  output: z.object({ success: z.boolean(), created: z.number(), task_ids: z.array(z.string()) }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'leader',
  example: {
    tasks: [
      { description: 'Create User model', priority: 1 },
      { description: 'Create login endpoint', priority: 2, dependencies: ['task-1'] },
      { description: 'Create logout endpoint', priority: 3, dependencies: ['task-2'] },
    ],
  },
  answer: (tasks: readonly Task[]) => ({
    success: true,
    created: tasks.length,
    task_ids: tasks.map(({ id }) => id),
  }),
  handler: ({ services, workspace, principal, recordAnswer }, { tasks, part_of }) => {
    const createdBy = principal.agent_id ?? principal.uid;
    const drafts = tasks.map((task) => draftOf({ part_of, ...task }));
    const by = { createdBy, opener: principal, viewer: principal };
    const request = { workspace, ...by, drafts, isBatch: true };
    return services.taskCreation.create(request, recordAnswer);
  },
});
