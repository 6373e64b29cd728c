/** Completion of the ids of tasks in the prompts of the toolset. */
import { promptsFor } from '../../../mcp/prompt.ts';
import type { VariableCompletion } from '../../../mcp/resource.ts';
import type { CoordinationServices } from '../create.ts';
import type { TaskStatus } from '../rules/task.ts';

export const definePrompt = promptsFor<CoordinationServices>();

/** Clients show at most 100 values. */
const MAX_TASKS = 100;

/** Completes an argument with the ids of the workspace's tasks that have one of the statuses. */
export const tasksIn =
  (...statuses: readonly TaskStatus[]): VariableCompletion<CoordinationServices> =>
  async ({ services, workspace }) =>
    (await services.coordination.listTasks(workspace, statuses, { limit: MAX_TASKS })).items.map(({ id }) => id);
