/** Tools that start a run. Source: the orchestration specification. */
import { z } from 'zod';
import { partOf } from '../../../graph/rules/linking.ts';
import { jsonObject } from '../../../kernel/json.ts';
import { listedAs } from '../../../mcp/jsonSchema.ts';
import { listUpTo, textUpTo, wholeNumber } from '../../../mcp/tool.ts';
import { requireRole } from '../rules/agents/profile.ts';
import { parallelWorkflow, requestFor, requestOf } from '../rules/requests.ts';
import { MAX_AGENTS, MAX_STEP_ATTEMPTS, MODES } from '../rules/workflows/definition.ts';
import { budget, cache, defineTool, json, prompt } from './orchestrationResponses.ts';
import { replayResponse, runAndRespond, startsRun } from './runResponses.ts';

/** An older name of `orchestrate`. Source: the orchestration specification, "Backward Compatibility". */
export const executeTask = defineTool({
  name: 'execute_task',
  title: 'Execute a task',
  description: 'For older clients: orchestrates task.prompt with workflow plan-execute and context {taskId: task.id}.',
  input: z.strictObject({
    task: z
      .strictObject({ id: textUpTo(200).optional().describe("Caller's own id"), prompt: prompt('Task') })
      .describe('The task'),
  }),
  ...startsRun,
  maxUsd: () => undefined,
  example: { task: { id: 'task-001', prompt: 'Build a REST API' } },
  handler: async (context, { task }) => {
    const { runs, roster } = context.services.orchestration;
    const options = { budget: runs.budgetOf() };
    const about = task.id === undefined ? {} : { taskId: task.id };
    const preferences = { workflow: 'plan-execute' };
    const situation = await roster.situation(context.workspace);
    const request = requestFor({ prompt: task.prompt, context: about }, preferences, options, situation);
    return runAndRespond(context, request);
  },
});

/** An older name of `orchestrate`. Source: the orchestration specification, "Backward Compatibility". */
export const executeCode = defineTool({
  name: 'execute_code',
  title: 'Execute code',
  description: 'For older clients: calls orchestrate with agent gemini, role execute and workflow direct.',
  input: z.strictObject({ prompt: prompt('Code task') }),
  ...startsRun,
  maxUsd: () => undefined,
  example: { prompt: 'Write a Python web scraper' },
  handler: async (context, { prompt: input }) => {
    const { runs, roster } = context.services.orchestration;
    const preferences = { agent: 'gemini', workflow: 'direct', role: 'execute' } as const;
    const options = { budget: runs.budgetOf() };
    const situation = await roster.situation(context.workspace);
    return runAndRespond(context, requestFor({ prompt: input }, preferences, options, situation));
  },
});

export const orchestrate = defineTool({
  name: 'orchestrate',
  title: 'Run a task on models',
  description:
    'Runs a task on AI models, choosing agent and workflow for you. Waits up to 45 seconds; for longer runs: orchestration.get_run.',
  details: 'Repeating a question within 5 minutes returns the cached result, unless `cache` is false.',
  rare: ['options'],
  input: z.strictObject({
    prompt: prompt('Task'),
    preferences: z
      .strictObject({
        agent: textUpTo(32).optional().describe('Hosted agent, or auto'),
        workflow: z
          .enum(['auto', 'direct', 'plan-execute', 'competitive', 'iterative'])
          .optional()
          .describe('Workflow'),
        role: z.enum(['auto', 'plan', 'execute', 'review']).optional().describe('In one-step workflows'),
        cache: z.boolean().default(true).describe('Reuse results for 5 minutes'),
      })
      .optional()
      .describe('Overrides'),
    options: z
      .strictObject({
        timeout: z
          .number()
          .refine((value) => value >= 0, 'expected 0 or more')
          .optional()
          .describe('Milliseconds to wait, at most 45000; the run continues'),
        retries: wholeNumber(0, MAX_STEP_ATTEMPTS - 1)
          .optional()
          .describe('Per request'),
        parallel: z.boolean().optional().describe('false: sequentially'),
        budget,
      })
      .optional()
      .describe('Options'),
    part_of: partOf,
  }),
  ...startsRun,
  maxUsd: ({ options }) => options?.budget?.cost_usd,
  example: {
    prompt: 'Create a React component for user authentication',
    preferences: { workflow: 'plan-execute', agent: 'auto' },
  },
  handler: async (context, { prompt: input, preferences = {}, options = {}, part_of }) => {
    const { runs, roster } = context.services.orchestration;
    const bounded = { ...options, budget: runs.budgetOf(options.budget) };
    const situation = await roster.situation(context.workspace);
    const request = requestFor({ prompt: input }, preferences, bounded, situation);
    return runAndRespond(context, { ...request, part_of }, options.timeout);
  },
  replay: (context, { options }, stored) => replayResponse(context, stored, options?.timeout),
});

export const orchestrateParallel = defineTool({
  name: 'orchestrate_parallel',
  title: 'Run a task on several models',
  description:
    'Runs one task on several agents. race: first valid answer; all: every result; vote: majority; merge: one combined answer.',
  details:
    'race cancels the calls to the other agents. all includes failures. vote without a majority is decided by a blind ranking. merge attributes each part of the answer. With `cache`, repeating a call within 5 minutes returns the cached result.',
  rare: ['cache', 'budget'],
  input: z.strictObject({
    prompt: prompt('Task'),
    agents: listUpTo(MAX_AGENTS, z.string(), 'agents').optional().describe('Default: all'),
    mode: z.enum(MODES).optional().describe('Default: all'),
    role: z.string().optional().describe('plan, execute or review'),
    budget,
    cache,
    part_of: partOf,
  }),
  ...startsRun,
  maxUsd: ({ budget: wanted }) => wanted?.cost_usd,
  example: { prompt: 'Optimize this SQL query', agents: ['claude', 'gemini'], mode: 'vote', role: 'execute' },
  handler: async (
    context,
    { prompt: input, agents = [], mode = 'all', role = 'execute', budget: wanted, cache: isCached, part_of },
  ) => {
    const { runs, roster } = context.services.orchestration;
    const situation = await roster.situation(context.workspace);
    const workflow = parallelWorkflow(agents, mode, requireRole(role, 'role'), situation);
    const given = { input, context: {}, budget: runs.budgetOf(wanted), cache: isCached };
    return runAndRespond(context, { ...requestOf(workflow, given, {}, situation), part_of });
  },
});

export const orchestrateWorkflow = defineTool({
  name: 'orchestrate_workflow',
  title: 'Run a workflow',
  description: 'Runs a workflow, named or inline. Waits up to 45 seconds; for longer runs: orchestration.get_run.',
  details:
    'orchestration.list_workflows lists the workflows; with `detailed`, also their definitions. With `cache`, repeating a call within 5 minutes returns the cached result, unless a step is for network agents or not repeatable.',
  rare: ['overrides', 'cache', 'budget'],
  input: z.strictObject({
    // The specification declares a text, but its example is an object. Both are accepted.
    workflow: listedAs({ type: 'string' }, z.union([z.string().min(1).max(100_000), json])).describe(
      'Name, or definition as JSON text',
    ),
    input: prompt("The workflow's input"),
    context: json.optional().describe('For templates and conditions'),
    overrides: z
      .strictObject({
        agents: z.record(z.string().max(100), z.string().max(100)).optional().describe('Agents by step'),
        timeouts: z.record(z.string().max(100), z.number()).optional().describe('Milliseconds by step'),
      })
      .optional()
      .describe('Changes'),
    budget,
    cache,
    part_of: partOf,
  }),
  ...startsRun,
  maxUsd: ({ budget: wanted }) => wanted?.cost_usd,
  example: { workflow: 'code-review', input: 'function add(a, b) { return a - b; }' },
  handler: async (
    call,
    { workflow, input, context = {}, overrides = {}, budget: wanted, cache: isCached, part_of },
  ) => {
    const { runs, workflows, roster } = call.services.orchestration;
    const resolved = await workflows.resolve(call.principal.owner_uid, workflow);
    const given = { input, context: jsonObject.parse(context), budget: runs.budgetOf(wanted), cache: isCached };
    const request = requestOf(resolved, given, overrides, await roster.situation(call.workspace));
    return runAndRespond(call, { ...request, part_of });
  },
});
