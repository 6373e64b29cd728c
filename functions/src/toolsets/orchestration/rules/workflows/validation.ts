/** Reads a workflow from what a caller sent, or says which step is wrong and why. */

import type { z } from 'zod';
import { MusterError } from '../../../../kernel/errors.ts';
import { requireSize } from '../../../../kernel/json.ts';
import { HOSTED_AGENTS, isAgent, NETWORK, unknownAgent } from '../agents/profile.ts';
import { ConditionError, checkCondition } from './condition.ts';
import {
  agentsOf,
  allSteps,
  blocksOf,
  type Group,
  groupSchema,
  isGroup,
  MAX_STEPS,
  outlineSchema,
  type Step,
  stagesOf,
  stepSchema,
  type Workflow,
} from './definition.ts';
import { TemplateError } from './scope.ts';
import { checkTemplate } from './template.ts';

/** A definition, in bytes of JSON. */
const MAX_DEFINITION_BYTES = 100_000;

/**
 * @param definition an object, or its JSON
 * @param field the argument that it came in
 * @throws MusterError VALIDATION_ERROR or INVALID_FORMAT, naming the step and the reason
 */
export function readWorkflow(definition: unknown, field: string): Workflow {
  const raw = typeof definition === 'string' ? parsedJson(definition, field) : definition;
  if (!isObject(raw)) throw notAnObject(field);
  const outline = checked(outlineSchema, raw, 'The workflow', field);
  const workflow = { ...outline, steps: stepsIn(outline.steps, `${field}.steps`) };
  requireSize('A workflow', field, workflow, MAX_DEFINITION_BYTES);
  requireSound(workflow, field);
  return workflow;
}

/** Reads the steps in their order, and names those that have no name. */
function stepsIn(entries: readonly unknown[], field: string): readonly (Step | Group)[] {
  let count = 0;
  const stepIn = (raw: unknown, at: string): Step => {
    const unnamed = `step_${++count}`;
    const written = isObject(raw) && 'name' in raw && typeof raw.name === 'string' ? raw.name : unnamed;
    const step = checked(stepSchema, raw, `Step "${written.slice(0, 64)}"`, at);
    return { ...step, name: step.name ?? unnamed };
  };
  return entries.map((entry, index) => {
    const at = `${field}.${index}`;
    if (!isObject(entry) || !('repeat' in entry)) return stepIn(entry, at);
    const { repeat, steps } = checked(groupSchema, entry, `The group at ${at}`, at);
    return { repeat, steps: steps.map((step, within) => stepIn(step, `${at}.steps.${within}`)) };
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function requireSound(workflow: Workflow, field: string): void {
  const steps = allSteps(workflow);
  if (steps.length > MAX_STEPS) {
    throw invalid(`The workflow has ${steps.length} steps; there may be ${MAX_STEPS}.`, `${field}.steps`);
  }
  const names = steps.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw invalid(`Step "${twice}": another step has the same name.`, `${field}.steps`);
  const problem = problemAmong(workflow, steps);
  if (problem !== undefined) throw invalid(problem.reason, `${field}.${problem.at}`);
  const unknown = workflow.result?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`result: there is no step "${unknown}".`, `${field}.result`);
}

/** The first in a step; where there is none, in a group. */
function problemAmong(workflow: Workflow, steps: readonly Step[]): Problem | undefined {
  const entries = workflow.steps.map((of, index) => ({ of, at: `steps.${index}` }));
  const located = entries.flatMap(({ of, at }) =>
    isGroup(of) ? of.steps.map((step, index) => ({ step, at: `${at}.steps.${index}` })) : [{ step: of, at }],
  );
  for (const { step, at } of located) {
    const found = stepProblem(step, steps) ?? referenceProblem(workflow, step);
    if (found) return { reason: `Step "${step.name}": ${found.reason}`, at: `${at}.${found.at}` };
  }
  for (const { of, at } of entries) {
    const found = isGroup(of) ? referenceProblem(workflow, of) : undefined;
    if (found) return { reason: `The group at ${at}: ${found.reason}`, at: `${at}.${found.at}` };
  }
  return undefined;
}

function checked<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
  what: string,
  field: string,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(raw);
  if (success) return data;
  const [issue] = error.issues;
  const path = issue?.path.join('.') ?? '';
  throw invalid(
    `${what}: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'Invalid input'}.`,
    path === '' ? field : `${field}.${path}`,
  );
}

function parsedJson(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notAnObject(field);
  }
}

function notAnObject(field: string): MusterError {
  return new MusterError('INVALID_FORMAT', 'This is no workflow: expected an object, or its JSON.', {
    field,
    suggestion: SUGGESTION,
  });
}

function invalid(message: string, field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', message, {
    field,
    reason: 'INVALID_WORKFLOW',
    suggestion: SUGGESTION,
  });
}

const SUGGESTION =
  'Write {"name": "custom", "steps": [{"agent": "claude", "role": "plan"}, {"agent": "gemini"}]}; list_workflows with detailed: true shows whole definitions.';

/** What is wrong with the templates and conditions of a step or a group, or with the steps that they name. */
function referenceProblem(workflow: Workflow, of: Step | Group): Problem | undefined {
  const known = reachable(workflow, of);
  const all = allSteps(workflow).map(({ name }) => name);
  for (const [at, named] of namings(of)) {
    const steps = namedSteps(named);
    if (typeof steps === 'string') return { reason: `${at}: ${steps}`, at };
    const missing = steps.find((name) => !known.includes(name));
    if (missing === undefined) continue;
    const why = all.includes(missing) ? 'does not come before it' : 'does not exist';
    return { reason: `${at}: the step "${missing}" ${why}.`, at };
  }
  return undefined;
}

/** Where a step or a group may name steps, and what finds the names there. */
function namings(of: Step | Group): [at: string, () => readonly string[]][] {
  if (isGroup(of)) return [['repeat.until', () => checkCondition(of.repeat.until).steps]];
  const { prompt, condition, picks } = of;
  return [
    ['prompt', () => (prompt === undefined ? [] : checkTemplate(prompt).steps)],
    ['condition', () => (condition === undefined ? [] : checkCondition(condition).steps)],
    ['picks', () => (picks === undefined ? [] : [picks])],
  ];
}

/** The names, or why there are none. */
function namedSteps(find: () => readonly string[]): readonly string[] | string {
  try {
    return find();
  } catch (error) {
    if (error instanceof ConditionError || error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** The steps that have run before it; within a repeated group all of the group's, from the round before. */
function reachable(workflow: Workflow, of: Step | Group): readonly string[] {
  const before: string[] = [];
  for (const block of blocksOf(workflow)) {
    const names = block.steps.map(({ name }) => name);
    const isWithin = isGroup(of) ? block.group === of : block.steps.includes(of);
    if (!isWithin) {
      before.push(...names);
      continue;
    }
    if (block.group !== undefined) return [...before, ...names];
    for (const stage of stagesOf(block.steps)) {
      if (!isGroup(of) && stage.includes(of)) break;
      before.push(...stage.map(({ name }) => name));
    }
    return before;
  }
  return before;
}

/** What is wrong with a step, and in which of its fields. */
interface Problem {
  readonly reason: string;
  readonly at: string;
}

/** What is wrong with a step by itself or among the others, apart from what it refers to. */
function stepProblem(step: Step, steps: readonly Step[]): Problem | undefined {
  return agentProblem(step) ?? choiceProblem(step, steps);
}

function agentProblem({ agent, agents, capabilities }: Step): Problem | undefined {
  const at = agents === undefined ? 'agent' : 'agents';
  if (agent !== undefined && agents !== undefined) return { reason: 'it has both agent and agents.', at };
  const names = agentsOf({ agent, agents });
  const unknown = names.find((name) => !isAgent(name));
  if (unknown !== undefined) return { reason: unknownAgent(unknown), at };
  if (new Set(names).size < names.length) return { reason: 'it names an agent twice.', at };
  const alone = names.length > 1 && names.find((name) => !HOSTED_AGENTS.includes(name));
  if (alone) return { reason: `"${alone}" must be a step's only agent.`, at };
  if (capabilities.length > 0 && names[0] !== NETWORK) {
    return { reason: `only an agent "${NETWORK}" is found by capabilities.`, at: 'capabilities' };
  }
  return undefined;
}

/** What is wrong with its mode, or with the step that it picks from. */
function choiceProblem(step: Step, steps: readonly Step[]): Problem | undefined {
  const { mode, picks } = step;
  const names = agentsOf(step);
  if (mode !== undefined && names.length === 1)
    return { reason: `the mode ${mode} needs several agents.`, at: 'mode' };
  if (picks === undefined) return undefined;
  if (names.length > 1 || names[0] === NETWORK) {
    return { reason: 'one hosted agent picks.', at: step.agents === undefined ? 'agent' : 'agents' };
  }
  const picked = steps.find(({ name }) => name === picks);
  if (picked === undefined) return undefined; // referenceProblem says so
  if (agentsOf(picked).length > 1 && (picked.mode ?? 'all') === 'all') return undefined;
  return { reason: `"${picks}" is no step of several agents with the mode all.`, at: 'picks' };
}
