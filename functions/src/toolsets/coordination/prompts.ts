/** Prompts about the tasks of the team. prompts.json has their texts. */
import { z } from 'zod';
import { type Prompt, promptsFor } from '../../mcp/prompt.ts';
import type { VariableCompletion } from '../../mcp/resource.ts';
import { textUpTo } from '../../mcp/tool.ts';
import type { CoordinationServices } from './create.ts';
import texts from './prompts.json' with { type: 'json' };
import type { TaskStatus } from './rules/task.ts';

const definePrompt = promptsFor<CoordinationServices>();

/** Clients show at most 100 values. */
const MAX_TASKS = 100;

/** Completes an argument with the ids of the workspace's tasks that have one of the statuses. */
const tasksIn =
  (...statuses: readonly TaskStatus[]): VariableCompletion<CoordinationServices> =>
  async ({ services, workspace }) =>
    (await services.coordination.listTasks(workspace, statuses, { limit: MAX_TASKS })).items.map(({ id }) => id);

const task = textUpTo(100).describe('Id of the task');
const wanted = textUpTo(100).optional().describe('Id of the task; default: the next in the queue');

export const prompts: readonly Prompt<CoordinationServices>[] = [
  definePrompt('work', texts.work, { task_id: wanted }, { task_id: tasksIn('available') }),
  definePrompt('plan', texts.plan, { goal: textUpTo(20_000).describe('Result that the team must reach') }),
  definePrompt('review', texts.review, { task_id: task }, { task_id: tasksIn('done', 'failed') }),
  definePrompt(
    'status',
    texts.status,
    { scope: z.string().max(100).optional().describe('team, me, or the id of a task; default: team') },
    { scope: async () => ['team', 'me'] },
  ),
];
