/** Tools that list agents, and rank hosted models for a task. Source: the orchestration specification. */
import { z } from 'zod';
import type { Agent } from '../../../agents/rules/agent.ts';
import { availability } from '../../../agents/rules/liveness.ts';
import { fittingItems } from '../../../kernel/json.ts';
import { reading, textUpTo } from '../../../mcp/tool.ts';
import { languageNamed, requireRole } from '../rules/agents/profile.ts';
import type { AgentRoster } from '../rules/agents/roster.ts';
import { defineTool } from './orchestrationResponses.ts';

const agentShape = z
  .object({
    name: z.string(),
    kind: z.enum(['hosted', 'network']).describe('Model behind an API, or live agent of this workspace.'),
    status: z.enum(['available', 'busy', 'unavailable']),
    reason: z.string().describe('Why the agent is unavailable, and how to change that.'),
    model: z.string(),
    capabilities: z
      .object({
        planning: z.number(),
        execution: z.number(),
        review: z.number(),
        contextWindow: z.int().describe('In tokens.'),
      })
      .partial()
      .describe('From 0 to 1. Empty for network agents.'),
    skills: z.array(z.string()).describe('Skills that a network agent has registered.'),
    metrics: z
      .object({
        avgResponseTime: z.int().describe('Average, in milliseconds.'),
        successRate: z.number(),
        totalRequests: z.int(),
      })
      .partial()
      .describe('Measured values; omitted for unused agents.'),
  })
  .partial();

type ListedAgent = z.output<typeof agentShape>;
type HostedAgent = Awaited<ReturnType<AgentRoster['list']>>['hosted'][number];

function hostedResponse({ name, availability: now, model, capabilities, metrics }: HostedAgent): ListedAgent {
  const known = { name, kind: 'hosted', model, capabilities, ...(metrics && { metrics }) } as const;
  if (now.available) return { ...known, status: 'available' };
  return { ...known, status: 'unavailable', reason: now.reason };
}

function networkResponse(agent: Agent, includeMetrics: boolean): ListedAgent {
  const closed = agent.tasks_completed + agent.tasks_failed;
  const metrics = {
    avgResponseTime: Math.round(agent.work_milliseconds / closed),
    successRate: agent.tasks_completed / closed,
    totalRequests: closed,
  };
  return {
    name: agent.id,
    kind: 'network',
    status: availability(agent) === 'busy' ? 'busy' : 'available',
    capabilities: {},
    skills: agent.capability_details.map(({ name }) => name),
    ...(includeMetrics && closed > 0 && { metrics }),
  };
}

export const listAgents = defineTool({
  name: 'list_agents',
  title: 'List workflow agents',
  description: "Lists agents for workflow steps: hosted models, and this workspace's live agents by skill.",
  details: 'In a step, set `agent` to a hosted agent, or to network for a live agent.',
  input: z.strictObject({
    role: textUpTo(100).optional().describe('plan, execute, review, or a skill'),
    includeMetrics: z.boolean().default(false).describe('With metrics'),
  }),
  output: z.object({
    agents: z.array(agentShape),
    truncated: z.boolean().optional().describe('Whether the workspace has more live agents.'),
  }),
  ...reading,
  example: { includeMetrics: true },
  handler: async ({ services, workspace }, { role, includeMetrics }) => {
    const { roster } = services.orchestration;
    const { hosted, network, moreOfNetwork } = await roster.list(workspace, role, includeMetrics);
    const live = network.map((agent) => networkResponse(agent, includeMetrics));
    const given = fittingItems(live, (agent) => agent);
    return {
      agents: [...hosted.map(hostedResponse), ...given],
      truncated: moreOfNetwork || given.length < live.length,
    };
  },
});

const shortText = textUpTo(100);

export const getCapabilities = defineTool({
  name: 'get_capabilities',
  title: 'Rank models for a task',
  description: 'Ranks hosted models for a task, with reasons and warnings.',
  details: 'If omitted, role, language and size are inferred from the task.',
  input: z.strictObject({
    task: textUpTo(100_000).optional().describe('Task description'),
    requirements: z
      .strictObject({
        language: shortText.optional().describe('Programming language'),
        contextSize: z
          .number()
          .refine((size) => Number.isFinite(size) && size >= 0, 'expected a number of tokens')
          .optional()
          .describe('In tokens'),
        role: shortText.optional().describe('plan, execute or review'),
      })
      .optional()
      .describe('Requirements'),
  }),
  output: z.object({
    recommendations: z.array(
      z
        .object({
          agent: z.string(),
          score: z.number().describe('From 0 to 1.'),
          reasons: z.array(z.string()),
          warnings: z.array(z.string()),
        })
        .partial(),
    ),
    inferred: z.array(z.string()).optional().describe('Values inferred from the task.'),
  }),
  ...reading,
  example: { task: 'Process 1MB of text data', requirements: { contextSize: 1_000_000 } },
  handler: async ({ services, workspace }, { task = '', requirements = {} }) => {
    const { language, contextSize, role } = requirements;
    const { recommendations, inferred } = await services.orchestration.roster.recommend(workspace, task, {
      contextSize,
      language: language === undefined ? undefined : languageNamed(language),
      role: role === undefined ? undefined : requireRole(role, 'requirements.role'),
    });
    return { recommendations, ...(inferred.length > 0 && { inferred }) };
  },
});
