/**
 * A workflow definition in the form in which callers send it and in which tools return it. Source: the orchestration
 * specification, orchestrate_workflow; docs/semantics.md#orchestration.
 */
import { z } from 'zod';
import { NETWORK, ROLES } from '../agents/profile.ts';

export const MAX_STEPS = 20;
const MAX_ITERATIONS = 10;
export const MAX_STEP_ATTEMPTS = 5;
export const MAX_AGENTS = 8;

/** Timeout of a call to an agent, in milliseconds. The default is sufficient for thinking models. */
export const TIMEOUT = { default: 300_000, min: 1000, max: 300_000 } as const;

/** Maximum output tokens of one call, including thinking. The default is sufficient for thinking and the answer. */
export const OUTPUT_TOKENS = { default: 32_000, max: 64_000 } as const;
export const MODES = ['race', 'all', 'vote', 'merge'] as const;
export type Mode = (typeof MODES)[number];

/** Name of a workflow or step. Dots are not allowed, because templates refer to outputs as steps.<name>.output. */
export const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const name = z.string().regex(NAME, 'expected a letter, then letters, digits, _ and -, at most 64 in total');
const agent = z.string().min(1).max(100);

export const stepSchema = z.strictObject({
  name: name.optional().describe('Name for references from other steps; default: step_1, step_2 …'),
  agent: agent.optional().describe('A hosted agent, auto, or network for a live agent.'),
  agents: z.array(agent).min(1).max(MAX_AGENTS).optional().describe('Several agents in parallel, instead of agent.'),
  mode: z.enum(MODES).optional().describe('How answers of several agents are combined; default: all.'),
  picks: name
    .optional()
    .describe('A step with several agents, whose results this step judges blindly. It outputs the best result.'),
  role: z.enum(ROLES).default('execute'),
  prompt: z
    .string()
    .min(1)
    .max(20_000)
    .optional()
    .describe('A Mustache template over input, context, iteration and steps.<name>.output.'),
  condition: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('A CEL expression over the same values as in prompt; if false, the step is skipped.'),
  retry: z
    .strictObject({ attempts: z.int().min(1).max(MAX_STEP_ATTEMPTS).describe('Maximum calls per agent.') })
    .default({ attempts: 3 }),
  timeout: z
    .int()
    .min(TIMEOUT.min)
    .max(TIMEOUT.max)
    .default(TIMEOUT.default)
    .describe('Time limit of one call, in milliseconds.'),
  parallel: z.boolean().default(false).describe('Runs concurrently with adjacent parallel steps.'),
  repeatable: z.boolean().default(true).describe('False: a call whose outcome is unknown is never repeated.'),
  maxOutputTokens: z.int().min(1).max(OUTPUT_TOKENS.max).default(OUTPUT_TOKENS.default),
  capabilities: z
    .array(z.string().min(1).max(100))
    .max(10)
    .default([])
    .describe('Capabilities that a network agent must have.'),
});

/** A repeated group of steps. Its steps are validated separately, so that error messages name the invalid step. */
export const groupSchema = z.strictObject({
  repeat: z.strictObject({
    until: z.string().min(1).max(500).describe('A CEL expression. The steps repeat until it is true.'),
    max: z.int().min(1).max(MAX_ITERATIONS).describe('Maximum number of rounds.'),
  }),
  steps: z.array(z.unknown()).min(1).max(MAX_STEPS),
});

export const outlineSchema = z.strictObject({
  name,
  description: z.string().max(500).optional(),
  steps: z.array(z.unknown()).min(1).max(MAX_STEPS),
  result: z
    .array(name)
    .min(1)
    .max(MAX_STEPS)
    .optional()
    .describe('The result is the output of the first of these steps that ran. Default: the last step that ran.'),
});

/** A validated step, with a name and with defaults for all omitted fields. */
export type Step = z.output<typeof stepSchema> & { readonly name: string };

export type Group = Omit<z.output<typeof groupSchema>, 'steps'> & { readonly steps: readonly Step[] };
export type Workflow = Omit<z.output<typeof outlineSchema>, 'steps'> & { readonly steps: readonly (Step | Group)[] };

export function isGroup(entry: Step | Group): entry is Group {
  return 'repeat' in entry;
}

/** Returns all steps in order, including the steps in groups. */
export function allSteps(workflow: Workflow): readonly Step[] {
  return workflow.steps.flatMap((entry) => (isGroup(entry) ? entry.steps : [entry]));
}

/** Returns the workflow with each step, also in groups, replaced by the result of `change`. */
export function withSteps(workflow: Workflow, change: (step: Step) => Step): Workflow {
  const steps = workflow.steps.map((entry) =>
    isGroup(entry) ? { ...entry, steps: entry.steps.map(change) } : change(entry),
  );
  return { ...workflow, steps };
}

/** Returns whether an answer may be cached: only if no live agent does a step, and all steps are repeatable. */
export function isCacheable(workflow: Workflow): boolean {
  return allSteps(workflow).every((step) => step.repeatable && !agentsOf(step).includes(NETWORK));
}

/** Returns the agents of a step, by default only `auto`. */
export function agentsOf({ agent: one, agents }: Pick<Step, 'agent' | 'agents'>): readonly string[] {
  return agents ?? [one ?? 'auto'];
}

/** Returns the stages. Adjacent steps marked parallel form one stage; each other step forms its own stage. */
export function stagesOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const stages: Step[][] = [];
  for (const step of steps) {
    const last = stages.at(-1);
    if (step.parallel && last?.[0]?.parallel) last.push(step);
    else stages.push([step]);
  }
  return stages;
}

/** Adjacent steps outside of groups, or the steps of one group. */
export interface Block {
  readonly steps: readonly Step[];
  readonly group?: Group;
}

export function blocksOf(workflow: Workflow): readonly Block[] {
  const blocks: { steps: Step[]; group?: Group }[] = [];
  for (const entry of workflow.steps) {
    const last = blocks.at(-1);
    if (isGroup(entry)) blocks.push({ steps: [...entry.steps], group: entry });
    else if (last !== undefined && last.group === undefined) last.steps.push(entry);
    else blocks.push({ steps: [entry] });
  }
  return blocks;
}
