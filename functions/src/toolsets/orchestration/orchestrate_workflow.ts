import { z } from 'zod';
import { jsonObject } from '../../domain/json.ts';
import { requestOf } from '../../domain/orchestration/requests.ts';
import { defineTool } from '../../mcp/tool.ts';
import { answerAgain, runAndAnswer } from './running.ts';
import { budget, json, prompt, runShape } from './shapes.ts';

export const orchestrateWorkflow = defineTool({
  name: 'orchestrate_workflow',
  title: 'Orchestrate a workflow',
  description:
    'Execute a specific workflow with full control. Waits for the result for up to 45 seconds; what takes longer goes on, and get_run has its result. list_workflows lists what there is, with detailed how a definition looks.',
  input: z.strictObject({
    workflow: z
      .union([z.string().min(1).max(100_000), json])
      .describe('Workflow name or inline workflow definition, as an object or its JSON'),
    input: prompt('Input for the workflow'),
    context: json
      .optional()
      .describe('Initial context for workflow execution: templates and conditions see it as context'),
    overrides: z
      .strictObject({
        agents: z
          .record(z.string().max(100), z.string().max(100))
          .optional()
          .describe('Override agent selection for specific steps, by their names'),
        timeouts: z
          .record(z.string().max(100), z.number())
          .optional()
          .describe('Override timeouts for specific steps, in milliseconds, by their names'),
      })
      .optional()
      .describe('What is to be different from the definition'),
    budget,
  }),
  output: runShape,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  role: 'worker',
  notifies: true,
  example: {
    workflow: {
      name: 'custom',
      steps: [
        { agent: 'claude', role: 'plan' },
        { agent: 'gemini', role: 'execute' },
        { agent: 'claude', role: 'review' },
      ],
    },
    input: 'Build a REST API',
  },
  handler: async (call, { workflow, input, context = {}, overrides = {}, budget: wanted }) => {
    const { runs, workflows, roster } = call.services.orchestration;
    const resolved = await workflows.resolve(call.principal.ownerUid, workflow);
    const given = {
      input,
      context: jsonObject.parse(context),
      budget: runs.budgetOf(wanted),
      parallel: true,
      cache: true,
    };
    return runAndAnswer(call, requestOf(resolved, given, overrides, roster.standings()), undefined);
  },
  replay: (context, _, stored) => answerAgain(context, stored, undefined),
});
