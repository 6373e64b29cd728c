import { z } from 'zod';
import { partOf } from '../../../graph/rules/graphNode.ts';
import { wholeNumber } from '../../../mcp/tool.ts';
import { requestFor } from '../rules/requests.ts';
import { MAX_ATTEMPTS } from '../rules/workflows/definition.ts';
import { budget, defineTool, prompt } from './orchestrationAnswers.ts';
import { answerAgain, runAndAnswer, startsRun } from './runAnswers.ts';

export const orchestrate = defineTool({
  name: 'orchestrate',
  title: 'Orchestrate',
  description:
    'Has models do a task, with agent and workflow chosen for you. Waits up to 45 seconds; orchestration.get_run has what takes longer.',
  details: 'The same question within 5 minutes gets the same answer, unless cache is false.',
  input: z.strictObject({
    prompt: prompt('What to do'),
    preferences: z
      .strictObject({
        agent: z.enum(['auto', 'claude', 'gemini']).optional().describe('Preferred agent'),
        workflow: z
          .enum(['auto', 'direct', 'plan-execute', 'competitive', 'iterative'])
          .optional()
          .describe('Workflow'),
        role: z.enum(['auto', 'plan', 'execute', 'review']).optional().describe('In one-step workflows'),
        cache: z.boolean().default(true).describe('Same answer within 5 minutes'),
      })
      .optional()
      .describe('What to choose'),
    options: z
      .strictObject({
        timeout: z
          .number()
          .refine((value) => value >= 0, 'expected 0 or more')
          .optional()
          .describe('Milliseconds to wait, at most 45000; the run goes on'),
        retries: wholeNumber(0, MAX_ATTEMPTS - 1)
          .optional()
          .describe('Of each request'),
        parallel: z.boolean().optional().describe('false: one after the other'),
        budget,
      })
      .optional()
      .describe('How'),
    part_of: partOf,
  }),
  ...startsRun,
  mostUsd: ({ options }) => options?.budget?.cost_usd,
  example: {
    prompt: 'Create a React component for user authentication',
    preferences: { workflow: 'plan-execute', agent: 'auto' },
  },
  handler: async (context, { prompt: input, preferences = {}, options = {}, part_of }) => {
    const { runs, roster } = context.services.orchestration;
    const bounded = { ...options, budget: runs.budgetOf(options.budget) };
    const situation = await roster.situation(context.workspace);
    const request = requestFor({ prompt: input }, preferences, bounded, situation);
    return runAndAnswer(context, { ...request, part_of }, options.timeout);
  },
  replay: (context, { options }, stored) => answerAgain(context, stored, options?.timeout),
});
