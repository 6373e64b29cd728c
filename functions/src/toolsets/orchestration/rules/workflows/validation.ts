/** Reads a workflow from what a caller sent, or says which step is wrong and why. */

import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { parsedJson, requireSize } from '../../../../kernel/json.ts';
import { isAgent, isHosted, NETWORK, unknownAgent } from '../agents/profile.ts';
import { checkCondition } from './condition.ts';
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
import { ExpressionError } from './scope.ts';
import { checkTemplate } from './template.ts';

/** A definition, in bytes of JSON. */
const MAX_DEFINITION_BYTES = 100_000;

/** @param definition an object or its JSON @param field its argument @throws MusterError VALIDATION_ERROR, INVALID_FORMAT */
export function readWorkflow(definition: unknown, field: string): Workflow {
  const raw = typeof definition === 'string' ? parsedJson(definition) : definition;
  if (!isObject(raw)) {
    const message = 'This is no workflow: expected an object, or its JSON.';
    throw new MusterError('INVALID_FORMAT', message, { field, suggestion: SUGGESTION });
  }
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
  requireSoundSteps(workflow, steps, field);
  const unknown = workflow.result?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`result: there is no step "${unknown}".`, `${field}.result`);
}

/** First each step, then each group. */
function requireSoundSteps(workflow: Workflow, steps: readonly Step[], field: string): void {
  const entries = workflow.steps.map((of, index) => ({ of, path: `steps.${index}` }));
  const located = entries.flatMap(({ of, path }) =>
    isGroup(of)
      ? of.steps.map((step, index) => ({ step, path: `${path}.steps.${index}` }))
      : { step: of, path },
  );
  const failing =
    (what: string, path: string): Fail =>
    (reason, at) => {
      throw invalid(`${what}: ${reason}`, `${field}.${path}.${at}`);
    };
  for (const { step, path } of located) {
    const fail = failing(`Step "${step.name}"`, path);
    requireAgents(step, fail);
    requireChoice(step, steps, fail);
    requireReferences(workflow, step, fail);
  }
  for (const { of, path } of entries)
    if (isGroup(of)) requireReferences(workflow, of, failing(`The group at ${path}`, path));
}

/** Says what is wrong with a step or a group, and in which of its fields. */
type Fail = (reason: string, at: string) => never;

function checked<Schema extends z.core.$ZodType>(
  schema: Schema,
  raw: unknown,
  what: string,
  field: string,
): z.output<Schema> {
  const { success, data, error } = z.safeParse(schema, raw);
  if (success) return data;
  const [issue] = error.issues;
  const message = issue?.message ?? 'Invalid input';
  const path = issue?.path.join('.') ?? '';
  if (path === '') throw invalid(`${what}: ${message}.`, field);
  throw invalid(`${what}: ${path}: ${message}.`, `${field}.${path}`);
}

function invalid(message: string, field: string): MusterError {
  return new MusterError('VALIDATION_ERROR', message, {
    field,
    reason: 'INVALID_WORKFLOW',
    suggestion: SUGGESTION,
  });
}

const SUGGESTION =
  'Write {"name": "custom", "steps": [{"agent": "claude", "role": "plan"}, {"agent": "gemini"}]}; orchestration.list_workflows with detailed: true shows whole definitions.';

/** Checks the templates and conditions of a step or a group, and that the steps come before it that they name. */
function requireReferences(workflow: Workflow, of: Step | Group, fail: Fail): void {
  const known = reachable(workflow, of);
  const all = allSteps(workflow).map(({ name }) => name);
  const check = (
    at: string,
    text: string | undefined,
    namedIn: (text: string) => readonly string[],
  ): void => {
    const named = text === undefined ? [] : stepsNamed(() => namedIn(text), at, fail);
    const missing = named.find((name) => !known.includes(name));
    if (missing === undefined) return;
    const why = all.includes(missing) ? 'does not come before it' : 'does not exist';
    fail(`${at}: the step "${missing}" ${why}.`, at);
  };
  const conditionSteps = (text: string) => checkCondition(text).steps;
  if (isGroup(of)) {
    check('repeat.until', of.repeat.until, conditionSteps);
    return;
  }
  check('prompt', of.prompt, (prompt) => checkTemplate(prompt).steps);
  check('condition', of.condition, conditionSteps);
  check('picks', of.picks, (name) => [name]);
}

function stepsNamed(find: () => readonly string[], at: string, fail: Fail): readonly string[] {
  try {
    return find();
  } catch (error) {
    if (error instanceof ExpressionError) return fail(`${at}: ${error.message}`, at);
    throw error;
  }
}

/** The steps that have run before it; within a repeated group all of the group's, from the round before. */
function reachable(workflow: Workflow, of: Step | Group): readonly string[] {
  const before: Step[] = [];
  for (const { steps, group } of blocksOf(workflow)) {
    const isWithin = of === group || steps.some((step) => step === of);
    const stages = stagesOf(steps);
    const own = stages.findIndex((stage) => stage.some((step) => step === of));
    before.push(...(isWithin && group === undefined ? stages.slice(0, own).flat() : steps));
    if (isWithin) break;
  }
  return before.map(({ name }) => name);
}

function requireAgents({ agent, agents, capabilities }: Step, fail: Fail): void {
  const at = agents === undefined ? 'agent' : 'agents';
  if (agent !== undefined && agents !== undefined) fail('it has both agent and agents.', at);
  const names = agentsOf({ agent, agents });
  const unknown = names.find((name) => !isAgent(name));
  if (unknown !== undefined) fail(unknownAgent(unknown), at);
  if (new Set(names).size < names.length) fail('it names an agent twice.', at);
  const alone = names.length > 1 && names.find((name) => !isHosted(name));
  if (alone) fail(`"${alone}" must be a step's only agent.`, at);
  if (capabilities.length > 0 && names[0] !== NETWORK)
    fail(`only an agent "${NETWORK}" is found by capabilities.`, 'capabilities');
}

/** Checks its mode, and the step that it picks from. */
function requireChoice({ mode, picks, agent, agents }: Step, steps: readonly Step[], fail: Fail): void {
  const names = agentsOf({ agent, agents });
  if (mode !== undefined && names.length === 1) fail(`the mode ${mode} needs several agents.`, 'mode');
  if (picks === undefined) return;
  if (names.length > 1 || names[0] === NETWORK)
    fail('one hosted agent picks.', agents === undefined ? 'agent' : 'agents');
  const picked = steps.find(({ name }) => name === picks);
  if (picked === undefined) return; // requireReferences says so
  if (agentsOf(picked).length > 1 && (picked.mode ?? 'all') === 'all') return;
  fail(`"${picks}" is no step of several agents with the mode all.`, 'picks');
}

/** A workflow as JSON, checked again when it is read: nothing queries what is in it. */
export const workflowText = z.codec(z.string(), z.custom<Workflow>(), {
  decode: (text) => readWorkflow(text, 'workflow'),
  encode: (workflow) => JSON.stringify(workflow),
});

/** A workflow that somebody has saved: `workflows/{id}`, which has its name besides. */
export const { toDocument: workflowToDocument, fromDocument: workflowFromDocument } = documentCodec(
  z.object({
    /** Derived from its owner and its name. */
    id: z.string(),
    owner_uid: z.string(),
    definition: workflowText,
    /** 1, and one more with each change. */
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

export type SavedWorkflow = ReturnType<typeof workflowFromDocument>;

/** Workflows as the trail tells of them. */
export const workflowFields = fieldsCodec<SavedWorkflow>(workflowToDocument, workflowFromDocument);

/** What commits may change of saved workflows. */
export interface WorkflowChanges {
  readonly createWorkflow: { readonly saved: SavedWorkflow };
  readonly replaceWorkflow: {
    readonly saved: SavedWorkflow;
    readonly before: SavedWorkflow;
    readonly version: string;
  };
  readonly deleteWorkflow: { readonly saved: SavedWorkflow; readonly version: string };
}
