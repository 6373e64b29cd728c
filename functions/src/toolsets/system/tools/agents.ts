/** The tools that list agents and skills. Source: the network specification. */
import { z } from 'zod';
import { type Agent, AVAILABILITIES, foldedCapability } from '../../../agents/rules/agent.ts';
import { availability } from '../../../agents/rules/liveness.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { encodeCursor } from '../../../kernel/paging.ts';
import type { ListedToolInfo } from '../../../mcp/callContext.ts';
import { type Given, guidance, listUpTo, optionalFields, reading, textUpTo } from '../../../mcp/tool.ts';
import type { Skill } from '../rules/directory.ts';
import { type CallHistory, successRate } from '../rules/metrics.ts';
import { cursor, cursorAfter, defineTool, pageShape } from './systemPages.ts';

const MAX_CAPABILITIES = 20;
const name = textUpTo(100);

const metrics = optionalFields({
  tasksCompleted: z.int(),
  successRate: z.number().describe("Share of the agent's closed tasks that it completed: 0 to 1."),
  avgResponseTime: z.number().describe('Average time from claim to report, in milliseconds.'),
  uptime: z.int().describe('Seconds since the agent came online.'),
});

const agentShape = optionalFields({
  id: z.string(),
  name: z.string(),
  type: z.string(),
  status: z.string(),
  capabilities: z.array(z.string()),
  currentTasks: z.int(),
  maxTasks: z.int(),
  lastSeen: z.iso.datetime(),
  metrics: metrics.describe("From the agent's closed tasks; unknown values are omitted."),
});

const summary = optionalFields({
  total: z.int(),
  active: z.int(),
  idle: z.int(),
  busy: z.int(),
  offline: z.int(),
  error: z.int(),
});

function agentResponse(agent: Agent, now: Date, includeMetrics: boolean): Given<z.output<typeof agentShape>> {
  return {
    id: agent.id,
    name: agent.name,
    type: agent.type,
    status: availability(agent),
    capabilities: agent.capability_details.map((capability) => capability.name),
    currentTasks: Object.keys(agent.held).length,
    maxTasks: agent.configuration.max_concurrent_tasks,
    lastSeen: agent.last_seen,
    metrics: includeMetrics ? metricsResponse(agent, now) : undefined,
  };
}

function metricsResponse(agent: Agent, now: Date): z.output<typeof metrics> {
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
  title: 'List agents',
  description:
    "Lists this workspace's agents and what each is doing. For agents in workflows: orchestration.list_agents.",
  details:
    'offline: not seen for three minutes. busy: holds its maximum of tasks. active: holds fewer. error: holds none, and its last task failed. idle: all others. summary counts all agents of the workspace, ignoring filters.',
  rare: ['includeMetrics', 'type'],
  input: z.strictObject({
    status: z.enum(AVAILABILITIES).optional().describe('Agent status'),
    type: name.optional().describe('Agent type'),
    capabilities: listUpTo(MAX_CAPABILITIES, name, 'capabilities').optional().describe('Required capabilities'),
    includeMetrics: z.boolean().default(false).describe('Include task statistics'),
    limit: z.int().min(1).max(500).default(100).describe('Maximum'),
    cursor,
  }),
  output: z.object({ agents: z.array(agentShape), summary: summary.optional(), ...pageShape }),
  ...reading,
  example: { status: 'idle', capabilities: ['coding'], includeMetrics: true },
  handler: async ({ services, workspace }, { status, type, capabilities = [], includeMetrics, limit, cursor: at }) => {
    const query = { workspace, availability: status, type, capabilities: capabilities.map(foldedCapability) };
    const filters = JSON.stringify(query);
    const after = cursorAfter(filters, at);
    const { overview } = services.system;
    const [{ agents, next, asOf }, counted] = await Promise.all([
      overview.list(query, limit, after),
      overview.summary(workspace),
    ]);
    return {
      agents: agents.map((agent) => agentResponse(agent, asOf, includeMetrics)),
      summary: { ...counted },
      truncated: next !== undefined,
      nextCursor: next && encodeCursor(filters, next),
    };
  },
});

const object = z.record(z.string(), z.unknown());

const skillShape = optionalFields({
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
  successRate: z.number().describe("Share of the last hour's calls that succeeded: 0 to 1."),
  lastUsed: z.iso.datetime().describe('Last minute in which the tool was called, within the last hour.'),
});

const CALL_UNLISTED =
  'Unlisted tools can be called by name. If your client refuses, add ?toolsets=<category> to its URL.';

const shortText = (description: string) => textUpTo(200).optional().describe(description);

export const listSkills = defineTool({
  name: 'listSkills',
  title: 'List skills',
  description: "Finds tools, also unlisted ones, with their arguments; then this workspace's agent capabilities.",
  details:
    "A tool's category is its toolset. If no tool or capability contains all words of `search`, the tools that contain the most words are returned. For capabilities, only names are searched. A capability that no agent has is deprecated.",
  rare: ['category', 'includeDeprecated', 'offset'],
  input: z.strictObject({
    category: shortText('Toolset, or category of capabilities'),
    search: shortText('The job, in your words'),
    includeDeprecated: z.boolean().default(false).describe('Include deprecated skills'),
    limit: z.int().min(1).max(1000).default(100).describe('Maximum'),
    offset: z.int().min(0).default(0).describe('Skills to skip'),
  }),
  output: z.object({
    skills: z.array(skillShape),
    total: z.int(),
    totalPages: z.int().optional().describe('Number of pages with this limit.'),
    hasNext: z.boolean().optional().describe('Whether there is a next page.'),
    hasPrevious: z.boolean().optional().describe('Whether there is a previous page.'),
    categories: z
      .array(z.string())
      .optional()
      .describe('The toolsets, and the categories of the returned capabilities.'),
    next: guidance().optional(),
  }),
  ...reading,
  example: { search: 'claim task', limit: 10 },
  handler: async ({ services, directory, workspace }, request) => {
    const tools = directory.tools.map((tool) => toolSkill(tool, services.system.version));
    const [{ skills, total }, history] = await Promise.all([
      services.system.findSkills(tools, { ...request, workspace }),
      services.system.recentCalls.lastHour(),
    ]);
    const shown = fittingItems(
      skills.map((skill) => ({ ...skill, ...usage(skill.id, history) })),
      (skill) => skill,
    );
    return {
      skills: shown,
      total,
      totalPages: Math.ceil(total / request.limit),
      hasNext: request.offset + shown.length < total,
      hasPrevious: total > 0 && request.offset > 0,
      categories: [...new Set([...tools, ...skills].map(({ category }) => category))],
      next: CALL_UNLISTED,
    };
  },
});

/** Returns a tool as a skill. */
export function toolSkill(tool: ListedToolInfo, version: string): Skill {
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

/** Returns usage metrics of a tool. Capabilities have none, because only tools are called. */
function usage(id: string, history: CallHistory | undefined): Given<z.input<typeof skillShape>> {
  const counts = history?.tools.get(id);
  const rate = counts && successRate(counts);
  if (counts === undefined || rate === undefined) return {};
  return { successRate: rate, lastUsed: counts.lastUsed };
}
