import { z } from 'zod';
import { partOf } from '../../../graph/rules/graphNode.ts';
import { listUpTo } from '../../../mcp/tool.ts';
import { requireRole } from '../rules/agents/profile.ts';
import { parallelWorkflow, requestOf } from '../rules/requests.ts';
import { MAX_AGENTS, MODES } from '../rules/workflows/definition.ts';
import { budget, cache, defineTool, prompt } from './orchestrationAnswers.ts';
import { runAndAnswer, startsRun } from './runAnswers.ts';

export const orchestrateParallel = defineTool({
  name: 'orchestrate_parallel',
  title: 'Orchestrate in parallel',
  description:
    'Has several agents do one task. race: first valid answer; all: every result; vote: what most answer; merge: one answer from all.',
  details:
    'race: the others are called off. all: failures included. vote: else what a blind ranking finds best. merge: it says what came from whom. With cache, the same call within 5 minutes gets the same answer.',
  rare: ['cache', 'part_of'],
  input: z.strictObject({
    prompt: prompt('What to do'),
    agents: listUpTo(MAX_AGENTS, z.string(), 'agents').optional().describe('All if left out or empty'),
    mode: z.enum(MODES).optional().describe('all by default'),
    role: z.string().optional().describe('plan, execute or review'),
    budget,
    cache,
    part_of: partOf,
  }),
  ...startsRun,
  mostUsd: ({ budget: wanted }) => wanted?.cost_usd,
  example: { prompt: 'Optimize this SQL query', agents: ['claude', 'gemini'], mode: 'vote', role: 'execute' },
  handler: async (
    context,
    { prompt: input, agents = [], mode = 'all', role = 'execute', budget: wanted, cache: isCached, part_of },
  ) => {
    const { runs, roster } = context.services.orchestration;
    const situation = await roster.situation(context.workspace);
    const workflow = parallelWorkflow(agents, mode, requireRole(role, 'role'), situation);
    const given = { input, context: {}, budget: runs.budgetOf(wanted), cache: isCached };
    return runAndAnswer(context, { ...requestOf(workflow, given, {}, situation), part_of });
  },
});
