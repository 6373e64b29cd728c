/** The tools that show the agents and what they have learned to do. Source: the network specification. */
import { z } from 'zod';
import { type Agent, AVAILABILITIES, foldedCapability } from '../../../agents/rules/agent.ts';
import { availability } from '../../../agents/rules/liveness.ts';
import { fitting } from '../../../kernel/json.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import type { KnownTool } from '../../../mcp/callContext.ts';
import { listUpTo, partial, textUpTo } from '../../../mcp/tool.ts';
import type { Skill } from '../rules/directory.ts';
import { type CallHistory, successRate } from '../rules/metrics.ts';
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

const object = z.record(z.string(), z.unknown());

const skillShape = partial({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  description: z.string(),
  version: z.string(),
  author: z.string(),
  requirements: z.array(z.string()),
  parameters: object,
  examples: z.array(object),
  deprecated: z.boolean(),
  successRate: z.number().describe('Share of the calls of the last hour that succeeded: 0 to 1.'),
  lastUsed: z.iso.datetime().describe('The last minute of the last hour in which it was called.'),
});

const shortText = (description: string) => textUpTo(200).optional().describe(description);

export const listSkills = defineTool({
  name: 'listSkills',
  title: 'Skills',
  description:
    'Lists what can be done here: every tool with an example, then the capabilities of agents of this workspace.',
  details:
    'The category of a tool is its toolset. Of capabilities only the name is searched. One that no agent has any more is deprecated.',
  input: z.strictObject({
    category: shortText('A toolset, or a category of capabilities'),
    search: shortText('Beginnings of words; case and accents do not count'),
    includeDeprecated: z.boolean().default(false).describe('Include deprecated ones'),
    limit: z.int().min(1).max(1000).default(100).describe('How many'),
    offset: z.int().min(0).default(0).describe('Skills to skip'),
  }),
  output: z.object({
    skills: z.array(skillShape),
    total: z.int(),
    totalPages: z.int().optional().describe('How many pages of this limit hold all of it.'),
    hasNext: z.boolean().optional().describe('Whether there are more after these.'),
    hasPrevious: z.boolean().optional().describe('Whether some were passed over.'),
    categories: z
      .array(z.string())
      .optional()
      .describe('The toolsets, and the categories of the capabilities given here.'),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  example: { search: 'claim task', limit: 10 },
  handler: async ({ services, directory, workspace }, request) => {
    const tools = directory.tools.map((tool) => toolSkill(tool, services.system.version));
    const [{ skills, total }, history] = await Promise.all([
      services.system.findSkills(tools, { ...request, workspace }),
      services.system.recentCalls.lastHour(),
    ]);
    const shown = fitting(
      skills.map((skill) => ({ ...skill, ...usage(skill.id, history) })),
      (skill) => skill,
    );
    return {
      skills: [...shown],
      total,
      totalPages: Math.ceil(total / request.limit),
      hasNext: request.offset + shown.length < total,
      hasPrevious: total > 0 && request.offset > 0,
      categories: [...new Set([...tools, ...skills].map(({ category }) => category))],
    };
  },
});

function toolSkill(tool: KnownTool, version: string): Skill {
  const { fullName, title, toolset, description, role, parameters, example } = tool;
  return {
    id: fullName,
    name: fullName,
    category: toolset,
    description: `${title}. ${description}`,
    version,
    author: 'Muster',
    requirements: [`role: ${role}`],
    parameters,
    examples: [example],
    deprecated: false,
  };
}

/** Only tools are called. */
function usage(id: string, history: CallHistory | undefined): z.input<typeof skillShape> {
  const counts = history?.tools.get(id);
  const rate = counts && successRate(counts);
  if (counts === undefined || rate === undefined) return {};
  return { successRate: rate, lastUsed: counts.lastUsed.toISOString() };
}
