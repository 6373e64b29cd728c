import { z } from 'zod';
import { requestFor } from '../../domain/orchestration/requests.ts';
import { MAX_ATTEMPTS } from '../../domain/orchestration/workflows/definition.ts';
import { defineTool } from '../../mcp/tool.ts';
import { answerAgain, runAndAnswer } from './running.ts';
import { budget, prompt, runShape } from './shapes.ts';

export const orchestrate = defineTool({
  name: 'orchestrate',
  title: 'Orchestrate',
  description:
    'Process request with intelligent agent and workflow selection. Waits for the result for up to 45 seconds; what takes longer goes on, and get_run has its result. The same question within 5 minutes gets the same answer, unless cache is false.',
  input: z.strictObject({
    prompt: prompt('The task or request to process'),
    preferences: z
      .strictObject({
        agent: z
          .enum(['auto', 'claude', 'gemini'])
          .optional()
          .describe('Preferred agent (auto for automatic selection)'),
        workflow: z
          .enum(['auto', 'direct', 'plan-execute', 'competitive', 'iterative'])
          .optional()
          .describe('Workflow to use (auto for automatic selection)'),
        role: z
          .enum(['auto', 'plan', 'execute', 'review'])
          .optional()
          .describe('Role for the agent, in a workflow of one step'),
        cache: z.boolean().default(true).describe('Use cached results if available'),
      })
      .optional()
      .describe('What is to be chosen, where not everything'),
    options: z
      .strictObject({
        timeout: z
          .number()
          .refine((value) => value >= 0, 'expected 0 or more')
          .optional()
          .describe(
            'How long to wait for the result, in milliseconds, at most 45000; the run itself goes on',
          ),
        retries: z
          .number()
          .refine(
            (value) => Number.isInteger(value) && value >= 0 && value < MAX_ATTEMPTS,
            `expected a whole number from 0 to ${MAX_ATTEMPTS - 1}`,
          )
          .optional()
          .describe('Number of retry attempts, of each request to an agent'),
        parallel: z
          .boolean()
          .optional()
          .describe(
            'Enable parallel execution where possible; false: one step, and one agent of a step, after the other',
          ),
        budget,
      })
      .optional()
      .describe('How it is to be done'),
  }),
  output: runShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  role: 'worker',
  notifies: true,
  example: {
    prompt: 'Create a React component for user authentication',
    preferences: { workflow: 'plan-execute', agent: 'auto' },
  },
  handler: async (context, { prompt: input, preferences, options = {} }) => {
    const { agent = 'auto', workflow = 'auto', role = 'auto', cache = true } = preferences ?? {};
    const { runs, roster } = context.services.orchestration;
    const request = requestFor(
      input,
      {},
      { agent, workflow, role, cache },
      { ...options, budget: runs.budgetOf(options.budget) },
      roster.standings(),
    );
    return runAndAnswer(context, request, options.timeout);
  },
  replay: (context, { options }, stored) => answerAgain(context, stored, options?.timeout),
});
