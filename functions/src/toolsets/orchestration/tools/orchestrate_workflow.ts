import { z } from 'zod';
import { partOf } from '../../../graph/rules/graphNode.ts';
import { jsonObject } from '../../../kernel/json.ts';
import { listedAs } from '../../../mcp/jsonSchema.ts';
import { requestOf } from '../rules/requests.ts';
import { budget, cache, defineTool, json, prompt } from './orchestrationAnswers.ts';
import { runAndAnswer, startsRun } from './runAnswers.ts';

export const orchestrateWorkflow = defineTool({
  name: 'orchestrate_workflow',
  title: 'Orchestrate a workflow',
  description:
    'Runs a workflow, by name or inline. Waits up to 45 seconds; orchestration.get_run has what takes longer.',
  details:
    'orchestration.list_workflows lists what there is, with detailed how a definition looks. With cache, the same call within 5 minutes gets the same answer, unless a step is for the network or not repeatable.',
  rare: ['overrides', 'cache', 'part_of'],
  input: z.strictObject({
    // The specification lists text, and its example is an object: both are accepted.
    workflow: listedAs({ type: 'string' }, z.union([z.string().min(1).max(100_000), json])).describe(
      'Name, or JSON text of a definition',
    ),
    input: prompt("The workflow's input"),
    context: json.optional().describe('For templates and conditions: context'),
    overrides: z
      .strictObject({
        agents: z.record(z.string().max(100), z.string().max(100)).optional().describe('Agents by step'),
        timeouts: z
          .record(z.string().max(100), z.number())
          .optional()
          .describe("Milliseconds, by the step's name"),
      })
      .optional()
      .describe('Changes'),
    budget,
    cache,
    part_of: partOf,
  }),
  ...startsRun,
  mostUsd: ({ budget: wanted }) => wanted?.cost_usd,
  example: { workflow: 'code-review', input: 'function add(a, b) { return a - b; }' },
  handler: async (
    call,
    { workflow, input, context = {}, overrides = {}, budget: wanted, cache: isCached, part_of },
  ) => {
    const { runs, workflows, roster } = call.services.orchestration;
    const resolved = await workflows.resolve(call.principal.owner_uid, workflow);
    const given = {
      input,
      context: jsonObject.parse(context),
      budget: runs.budgetOf(wanted),
      cache: isCached,
    };
    const request = requestOf(resolved, given, overrides, await roster.situation(call.workspace));
    return runAndAnswer(call, { ...request, part_of });
  },
});
