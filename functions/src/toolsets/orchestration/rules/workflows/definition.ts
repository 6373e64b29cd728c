/**
 * A workflow as it is written, stored and listed.
 * Source: the orchestration specification, orchestrate_workflow; docs/semantics.md#orchestration.
 */

import { z } from 'zod';
import { NETWORK, ROLES } from '../agents/profile.ts';

export const MAX_STEPS = 20;

const MAX_ITERATIONS = 10;

export const MAX_ATTEMPTS = 5;

export const MAX_AGENTS = 8;

/** A step's time-out, in milliseconds. The default leaves time for thinking. */
export const TIMEOUT = { usual: 300_000, least: 1000, most: 300_000 } as const;

/** Output tokens of one call, thinking included: the default leaves room for both. */
export const OUTPUT_TOKENS = { usual: 32_000, most: 64_000 } as const;

export const MODES = ['race', 'all', 'vote', 'merge'] as const;

export type Mode = (typeof MODES)[number];

/** A workflow's or a step's name. Steps are named in templates and conditions, so a name has no dot. */
export const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const name = z.string().regex(NAME, 'expected a letter, then letters, digits, _ and -, at most 64 in all');

const agent = z.string().min(1).max(100);

/** What a step may say. */
export const stepSchema = z.strictObject({
  name: name.optional().describe('How other steps refer to it; step_1, step_2 … where it is left out.'),
  agent: agent.optional().describe('claude, gemini, auto, or network for a live agent of the network.'),
  agents: z
    .array(agent)
    .min(1)
    .max(MAX_AGENTS)
    .optional()
    .describe('Several agents at once, instead of one.'),
  mode: z.enum(MODES).optional().describe('What becomes of the answers of several agents; all by default.'),
  picks: name
    .optional()
    .describe('A step of several agents: this one judges its results blindly, and its output is the best.'),
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
    .describe('A CEL expression over the same; the step is skipped where it is false.'),
  retry: z
    .strictObject({ attempts: z.int().min(1).max(MAX_ATTEMPTS).describe('Calls of one agent in all.') })
    .default({ attempts: 3 }),
  timeout: z
    .int()
    .min(TIMEOUT.least)
    .max(TIMEOUT.most)
    .default(TIMEOUT.usual)
    .describe('Milliseconds that one call may take.'),
  parallel: z.boolean().default(false).describe('Runs together with its neighbours that say the same.'),
  repeatable: z
    .boolean()
    .default(true)
    .describe('False: a call whose outcome is unknown is never made again.'),
  maxOutputTokens: z.int().min(1).max(OUTPUT_TOKENS.most).default(OUTPUT_TOKENS.usual),
  capabilities: z
    .array(z.string().min(1).max(100))
    .max(10)
    .default([])
    .describe('What an agent of the network must be capable of.'),
});

/** A group of steps that is repeated; its steps are checked one by one, so that an error names its step. */
export const groupSchema = z.strictObject({
  repeat: z.strictObject({
    until: z.string().min(1).max(500).describe('A CEL expression, evaluated after each round.'),
    max: z.int().min(1).max(MAX_ITERATIONS).describe('The most rounds.'),
  }),
  steps: z.array(z.unknown()).min(1).max(MAX_STEPS),
});

/** A workflow around its steps. */
export const outlineSchema = z.strictObject({
  name,
  description: z.string().max(500).optional(),
  steps: z.array(z.unknown()).min(1).max(MAX_STEPS),
  result: z
    .array(name)
    .min(1)
    .max(MAX_STEPS)
    .optional()
    .describe(
      'Whose output is the result: the first of these that has run. By default the last step that ran.',
    ),
});

/** Checked, every step named and every default filled in. */
export type Step = z.output<typeof stepSchema> & { readonly name: string };

export interface Group {
  readonly repeat: { readonly until: string; readonly max: number };
  readonly steps: readonly Step[];
}

export interface Workflow {
  readonly name: string;
  readonly description?: string | undefined;
  readonly steps: readonly (Step | Group)[];
  readonly result?: readonly string[] | undefined;
}

export function isGroup(entry: Step | Group): entry is Group {
  return 'repeat' in entry;
}

/** All steps, those of groups included, in their order. */
export function allSteps(workflow: Workflow): readonly Step[] {
  return workflow.steps.flatMap((entry) => (isGroup(entry) ? entry.steps : [entry]));
}

/** The workflow with every step changed, those of groups included. */
export function withSteps(workflow: Workflow, change: (step: Step) => Step): Workflow {
  const steps = workflow.steps.map((entry) =>
    isGroup(entry) ? { ...entry, steps: entry.steps.map(change) } : change(entry),
  );
  return { ...workflow, steps };
}

/** Whether an answer may stand for another run of the workflow: no step acts outside, and each may be repeated. */
export function isCacheable(workflow: Workflow): boolean {
  return allSteps(workflow).every((step) => step.repeatable && !agentsOf(step).includes(NETWORK));
}

/** The agents that a step names; `auto` where it names none. */
export function agentsOf({ agent: one, agents }: Pick<Step, 'agent' | 'agents'>): readonly string[] {
  return agents ?? [one ?? 'auto'];
}

/** The steps that run together: those that say so and stand next to each other; every other one alone. */
export function stagesOf(steps: readonly Step[]): readonly (readonly Step[])[] {
  const stages: Step[][] = [];
  for (const step of steps) {
    const last = stages.at(-1);
    if (step.parallel && last?.[0]?.parallel) last.push(step);
    else stages.push([step]);
  }
  return stages;
}

/** Steps in a row that are no group, or the steps of a group. */
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
