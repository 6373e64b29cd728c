/** The four resources of spec/coordination.md, "MCP Resources". */
import type { CallContext } from '../../mcp/callContext.ts';
import type { Resource } from '../../mcp/resource.ts';
import { pageOf } from './tools/arguments.ts';
import { masterPlanAnswer } from './tools/get_master_plan.ts';
import { discoveryAnswer, taskAnswer } from './tools/shapes.ts';
import { statusAnswer } from './tools/statusAnswer.ts';

/** A resource has no arguments, so it shows this many and says whether there is more, and which tool has it. */
const MAX_TASKS = 500;
const MAX_DISCOVERIES = 100;

const goesOn = (tool: string) => `${tool} with next_cursor as its cursor has the rest.`;

function resource(
  name: string,
  title: string,
  description: string,
  content: (context: CallContext) => Promise<unknown>,
): Resource {
  return {
    uri: `coordination://${name}`,
    name,
    title,
    description,
    mimeType: 'application/json',
    role: 'viewer',
    read: async (context) => JSON.stringify(await content(context), null, 2),
  };
}

export const resources: readonly Resource[] = [
  resource('status', 'Coordination status', 'Current coordination status', async ({ services, workspace }) =>
    statusAnswer(await services.coordination.status(workspace)),
  ),
  resource('tasks', 'Tasks', 'All tasks in the queue', async ({ services, workspace }) => {
    const found = await services.coordination.listTasks(workspace, undefined, { limit: MAX_TASKS });
    const { items, end } = pageOf(found, (task) => task.createdAt, taskAnswer);
    return { tasks: items, ...end, ...(end.truncated && { goes_on: goesOn('get_all_tasks') }) };
  }),
  resource('discoveries', 'Discoveries', 'Shared discoveries', async ({ services, workspace }) => {
    const found = await services.coordination.listDiscoveries(workspace, undefined, {
      limit: MAX_DISCOVERIES,
    });
    const { items, end } = pageOf(found, (discovery) => discovery.createdAt, discoveryAnswer);
    return { discoveries: items, ...end, ...(end.truncated && { goes_on: goesOn('get_discoveries') }) };
  }),
  resource('master-plan', 'Master plan', 'Master plan and goal', async ({ services, workspace }) =>
    masterPlanAnswer(await services.coordination.session(workspace), workspace),
  ),
];
