import { z } from 'zod';
import { requestFor } from '../rules/requests.ts';
import { defineTool, prompt } from './orchestrationAnswers.ts';
import { runAndAnswer, startsRun } from './runAnswers.ts';

/** Source: the orchestration specification, "Backward Compatibility". */
export const executeCode = defineTool({
  name: 'execute_code',
  title: 'Execute code',
  description:
    'For older clients: orchestrate with the agent gemini, the role execute and the workflow direct.',
  input: z.strictObject({ prompt: prompt('What to write') }),
  ...startsRun,
  audience: 'older clients',
  mostUsd: () => undefined,
  example: { prompt: 'Write a Python web scraper' },
  handler: async (context, { prompt: input }) => {
    const { runs, roster } = context.services.orchestration;
    const preferences = { agent: 'gemini', workflow: 'direct', role: 'execute' } as const;
    const options = { budget: runs.budgetOf() };
    const situation = await roster.situation(context.workspace);
    return runAndAnswer(context, requestFor({ prompt: input }, preferences, options, situation));
  },
});
