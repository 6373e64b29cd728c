import { z } from 'zod';
import { type Agent, AVAILABILITIES, foldedCapability } from '../../../agents/rules/agent.ts';
import { availability } from '../../../agents/rules/liveness.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import { listUpTo, partial, textUpTo } from '../../../mcp/tool.ts';
import { cursor, defineTool, pageShape, placeAfter } from './systemPages.ts';

const MAX_CAPABILITIES = 20;

const name = textUpTo(100);

const metrics = partial({
  tasksCompleted: z.int(),
  successRate: z.number().describe('Of the tasks that it closed, the share that it completed: 0 to 1.'),
  avgResponseTime: z.number().describe('Milliseconds from claim to report, on average.'),
  uptime: z.int().describe('Seconds since it came online.'),
});

const agentShape = partial({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  status: z.string(),
  capabilities: z.array(z.string()),
  currentTasks: z.int(),
  maxTasks: z.int(),
  lastSeen: z.iso.datetime(),
  metrics: metrics.describe('From its closed tasks; what nothing is known of is left out.'),
});

const summary = partial({
  total: z.int(),
  active: z.int(),
  idle: z.int(),
  busy: z.int(),
  offline: z.int(),
  error: z.int(),
});

function agentAnswer(agent: Agent, now: Date, includeMetrics: boolean): z.output<typeof agentShape> {
  return {
    id: agent.id,
    name: agent.name,
    type: agent.type,
    status: availability(agent),
    capabilities: agent.capability_details.map((capability) => capability.name),
    currentTasks: Object.keys(agent.held).length,
    maxTasks: agent.configuration.max_concurrent_tasks,
    lastSeen: agent.last_seen.toISOString(),
    metrics: includeMetrics ? metricsAnswer(agent, now) : undefined,
  };
}

function metricsAnswer(agent: Agent, now: Date): z.output<typeof metrics> {
  const { tasks_completed, tasks_failed, work_milliseconds, active_since, status } = agent;
  const closed = tasks_completed + tasks_failed;
  const onlineSeconds = active_since && Math.floor((now.getTime() - active_since.getTime()) / 1000);
  return {
    ...(closed > 0 && {
      tasksCompleted: tasks_completed,
      successRate: tasks_completed / closed,
      avgResponseTime: Math.round(work_milliseconds / closed),
    }),
    uptime: status === 'active' && onlineSeconds !== undefined ? Math.max(0, onlineSeconds) : undefined,
  };
}

export const getAgents = defineTool({
  name: 'getAgents',
  title: 'Agents',
  description:
    "Lists this workspace's agents and what each is doing. orchestration.list_agents lists those for workflows.",
  details:
    'offline: unseen for three heartbeats of a minute. busy: it holds as many tasks as it may. active: it holds some. error: it holds none, and the last one that it closed failed. idle: it holds none. The summary counts all agents of the workspace, whatever the filters.',
  input: z.strictObject({
    status: z.enum(AVAILABILITIES).optional().describe('Of this status'),
    type: name.optional().describe('Of this type'),
    capabilities: listUpTo(MAX_CAPABILITIES, name, 'capabilities')
      .optional()
      .describe('Agents that have all of these'),
    includeMetrics: z.boolean().default(false).describe('Add what came of the tasks of each'),
    limit: z.int().min(1).max(500).default(100).describe('How many'),
    cursor,
  }),
  output: z.object({ agents: z.array(agentShape), summary: summary.optional(), ...pageShape }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { status: 'idle', capabilities: ['coding'], includeMetrics: true },
  handler: async (
    { services, workspace },
    { status, type, capabilities = [], includeMetrics, limit, cursor: at },
  ) => {
    const query = { workspace, availability: status, type, capabilities: capabilities.map(foldedCapability) };
    const filters = JSON.stringify(query);
    const after = placeAfter(filters, at);
    const { overview } = services.system;
    const [{ agents, next, asOf }, counted] = await Promise.all([
      overview.list(query, limit, after),
      overview.summary(workspace),
    ]);
    return {
      agents: agents.map((agent) => agentAnswer(agent, asOf, includeMetrics)),
      summary: { ...counted },
      truncated: next !== undefined,
      nextCursor: next && encodeCursor(filters, next),
    };
  },
});
