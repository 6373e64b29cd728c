import { z } from 'zod';
import { textUpTo } from '../../../mcp/tool.ts';
import { requestFor } from '../rules/requests.ts';
import { defineTool, prompt } from './orchestrationAnswers.ts';
import { runAndAnswer, startsRun } from './runAnswers.ts';

/** Source: the orchestration specification, "Backward Compatibility". */
export const executeTask = defineTool({
  name: 'execute_task',
  title: 'Execute a task',
  description:
    'For older clients: orchestrate task.prompt with the workflow plan-execute and the context {taskId: task.id}.',
  input: z.strictObject({
    task: z
      .strictObject({
        id: textUpTo(200).optional().describe('What the caller calls it'),
        prompt: prompt('What to do'),
      })
      .describe('The task'),
  }),
  ...startsRun,
  audience: 'older clients',
  mostUsd: () => undefined,
  example: { task: { id: 'task-001', prompt: 'Build a REST API' } },
  handler: async (context, { task }) => {
    const { runs, roster } = context.services.orchestration;
    const options = { budget: runs.budgetOf() };
    const about = task.id === undefined ? {} : { taskId: task.id };
    const preferences = { workflow: 'plan-execute' };
    const situation = await roster.situation(context.workspace);
    const request = requestFor({ prompt: task.prompt, context: about }, preferences, options, situation);
    return runAndAnswer(context, request);
  },
});
