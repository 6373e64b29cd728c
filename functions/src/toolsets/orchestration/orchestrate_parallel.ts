import { z } from 'zod';
import { requireRole } from '../../domain/orchestration/agents/profile.ts';
import { parallelWorkflow, requestOf } from '../../domain/orchestration/requests.ts';
import { MAX_AGENTS, MODES } from '../../domain/orchestration/workflows/definition.ts';
import { defineTool } from '../../mcp/tool.ts';
import { answerAgain, runAndAnswer } from './running.ts';
import { budget, prompt, runShape } from './shapes.ts';

export const orchestrateParallel = defineTool({
  name: 'orchestrate_parallel',
  title: 'Orchestrate in parallel',
  description:
    'Execute task with multiple agents in parallel. race: the first valid answer wins and the others are called off. all: every result, failures included. vote: what most answer, else what a blind ranking finds best. merge: one answer that says what came from whom.',
  input: z.strictObject({
    prompt: prompt('Task to execute'),
    agents: z
      .array(z.string())
      .refine((agents) => agents.length <= MAX_AGENTS, `expected at most ${MAX_AGENTS} agents`)
      .optional()
      .describe('Agents to use (empty for all available)'),
    mode: z.enum(MODES).optional().describe('How to handle parallel results; all where it is left out'),
    role: z.string().optional().describe('Role for all agents: plan, execute or review'),
    budget,
  }),
  output: runShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  role: 'worker',
  notifies: true,
  example: {
    prompt: 'Optimize this SQL query',
    agents: ['claude', 'gemini'],
    mode: 'vote',
    role: 'execute',
  },
  handler: async (
    context,
    { prompt: input, agents = [], mode = 'all', role = 'execute', budget: wanted },
  ) => {
    const { runs, roster } = context.services.orchestration;
    const standings = roster.standings();
    const workflow = parallelWorkflow(agents, mode, requireRole(role, 'role'), standings);
    const given = { input, context: {}, budget: runs.budgetOf(wanted), parallel: true, cache: true };
    return runAndAnswer(context, requestOf(workflow, given, {}, standings), undefined);
  },
  replay: (context, _, stored) => answerAgain(context, stored, undefined),
});
