/** Tools for listing tasks and results, and for sharing findings. Source: the coordination specification. */
import { z } from 'zod';
import { recordedAs } from '../../../agents/rules/liveness.ts';
import { idOf } from '../../../kernel/ids.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { listUpTo, optionalList, reading, writing } from '../../../mcp/tool.ts';
import type { Discovery } from '../rules/session.ts';
import { COORDINATION_STATUSES, coordinationStatus, storedStatuses, type Task } from '../rules/task.ts';
import * as shapes from './coordinationResponses.ts';
import { proofResponse, verifyingResponse } from './proofResponses.ts';

export const getAllTasks = shapes.defineTool({
  name: 'get_all_tasks',
  title: 'List tasks',
  description: "Lists the session's tasks, oldest first. For claim order: system.getTaskQueue.",
  input: z.strictObject({
    status_filter: z
      .enum(['all', ...COORDINATION_STATUSES, 'stuck'])
      .default('all')
      .describe('stuck: tasks that can never start'),
    limit: shapes.pageLimit('1 to 500', 200, 500),
    cursor: shapes.cursor,
  }),
  output: z.object({ tasks: z.array(shapes.taskShape), ...shapes.pageShape }),
  ...reading,
  returnsWhole: true,
  example: { status_filter: 'available' },
  handler: async ({ services, workspace }, { status_filter, limit, cursor: encoded }) => {
    const page = shapes.pageAfter(encoded, limit);
    const { coordination } = services;
    const statuses = status_filter === 'all' || status_filter === 'stuck' ? undefined : storedStatuses(status_filter);
    const found = await (status_filter === 'stuck'
      ? coordination.listStuck(workspace, page)
      : coordination.listTasks(workspace, statuses, page));
    const { items, end } = shapes.pageOf(found, (task) => task.created_at, shapes.taskResponse);
    return { tasks: items, ...end };
  },
});

const { status, error, result, completed_at, proven, verifying } = shapes.taskShape.shape;

const resultResponseOf = (task: Task) => ({
  task_id: task.id,
  description: task.description,
  result: task.result,
  completed_at: task.completed_at,
  proven: proofResponse(task).proven,
});

const withoutResult = (task: Task) => {
  const { id: task_id, error } = task;
  return { task_id, status: coordinationStatus(task.status), error, verifying: verifyingResponse(task) };
};

export const getResults = shapes.defineTool({
  name: 'get_results',
  title: 'Get results',
  description: 'Returns the results of completed tasks, in completion order.',
  input: z.strictObject({
    task_ids: listUpTo(100, idOf('a task'), 'ids').optional().describe('Default: all'),
    limit: shapes.pageLimit('1 to 500', 200, 500),
    cursor: shapes.cursor,
  }),
  output: z.object({
    results: z.array(z.object({ task_id: z.string(), description: z.string(), result, completed_at, proven })),
    without_result: z
      .array(z.object({ task_id: z.string(), status, error, verifying }))
      .optional()
      .describe('Requested tasks that are not done.'),
    left_out: z
      .array(z.string())
      .optional()
      .describe('Requested tasks whose results do not fit into this response: request them again.'),
    ...shapes.pageShape,
  }),
  ...reading,
  returnsWhole: true,
  example: { task_ids: ['task-xxx-001'] },
  handler: async ({ services, workspace }, { task_ids = [], limit, cursor: encoded }) => {
    if (task_ids.length === 0) {
      const found = await services.coordination.listDone(workspace, shapes.pageAfter(encoded, limit));
      const { items, end } = shapes.pageOf(found, (task) => task.completed_at, resultResponseOf);
      return { results: items, ...end };
    }
    const named = await services.coordination.namedTasks(workspace, task_ids);
    const others = named.filter((task) => task.status !== 'done');
    const done = named.filter((task) => task.status === 'done');
    const given = fittingItems(done, resultResponseOf);
    const leftOut = done.slice(given.length);
    return {
      results: given.map(resultResponseOf),
      left_out: optionalList(leftOut.map(({ id }) => id)),
      without_result: optionalList(others.map(withoutResult)),
      truncated: leftOut.length > 0,
    };
  },
});

export const addDiscovery = shapes.defineTool({
  name: 'add_discovery',
  title: 'Share a finding',
  description: "Shares a finding with the workspace's other agents.",
  details: 'A finding cannot be undone. Add a correction instead.',
  input: z.strictObject({
    agent_id: shapes.agentId,
    content: shapes.text('Finding', 50_000),
    tags: shapes.texts('Tags', 20, 100).optional(),
  }),
  output: z.object({ success: z.boolean(), discovery: shapes.discoveryShape }),
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  example: {
    agent_id: 'terminal-2',
    content: 'Found existing auth middleware in src/middleware/auth.ts - can be reused',
    tags: ['auth', 'existing-code'],
  },
  response: (discovery: Discovery) => ({ success: true, discovery: shapes.discoveryResponse(discovery) }),
  handler: async ({ services, workspace, principal, recordResponse }, { agent_id, content, tags = [] }) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    const discovery = { workspace, agent_id: agentId, content, tags: [...new Set(tags)] };
    return services.coordination.addDiscovery(discovery, recordedAs(agentId, recordResponse), principal);
  },
});

export const getDiscoveries = shapes.defineTool({
  name: 'get_discoveries',
  title: 'List discoveries',
  description: 'Lists shared findings, newest first.',
  input: z.strictObject({
    tags: shapes.texts('Match any of these tags', 20, 100).optional(),
    limit: shapes.pageLimit('1 to 500', 20, 500),
    cursor: shapes.cursor,
  }),
  output: z.object({ discoveries: z.array(shapes.discoveryShape), ...shapes.pageShape }),
  ...reading,
  example: { tags: ['auth'] },
  handler: async ({ services, workspace }, { tags = [], limit, cursor: encoded }) => {
    const page = shapes.pageAfter(encoded, limit);
    const found = await services.coordination.listDiscoveries(workspace, optionalList([...new Set(tags)]), page);
    const { items, end } = shapes.pageOf(found, (discovery) => discovery.created_at, shapes.discoveryResponse);
    return { discoveries: items, ...end };
  },
});
