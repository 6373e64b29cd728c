import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { requestFor } from '../rules/requests.ts';
import { answerAgain, runAndAnswer } from './runAnswer.ts';
import { prompt, runShape } from './shapes.ts';

/** Source: spec/orchestration.md, "Backward Compatibility". */
export const executeCode = defineTool({
  name: 'execute_code',
  title: 'Execute code',
  description:
    'For older clients: orchestrate with the agent gemini, the role execute and the workflow direct.',
  input: z.strictObject({ prompt: prompt('What to write') }),
  output: runShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  role: 'worker',
  audience: 'older clients',
  notifies: true,
  example: { prompt: 'Write a Python web scraper' },
  handler: async (context, { prompt: input }) => {
    const { runs, roster } = context.services.orchestration;
    const preferences = { agent: 'gemini', workflow: 'direct', role: 'execute', cache: true } as const;
    const options = { budget: runs.budgetOf() };
    const request = requestFor(input, {}, preferences, options, roster.standings());
    return runAndAnswer(context, request, undefined);
  },
  replay: (context, _, stored) => answerAgain(context, stored, undefined),
});
