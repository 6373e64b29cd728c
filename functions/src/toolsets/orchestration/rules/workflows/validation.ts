/** Parses and validates a caller's workflow. Error messages name the invalid step and the reason. */
import { z } from 'zod/mini';
import { documentCodec, fieldsCodec, timestamp } from '../../../../kernel/documentCodec.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { parsedJson, requireSize } from '../../../../kernel/json.ts';
import { isHosted, NETWORK, unknownAgent, unknownIn } from '../agents/profile.ts';
import { checkCondition } from './condition.ts';
import * as definitions from './definition.ts';
import { ExpressionError } from './scope.ts';
import { checkTemplate } from './template.ts';

const MAX_DEFINITION_BYTES = 100_000;

/**
 * Parses a workflow.
 * @param definition object or JSON text
 * @param field name of the argument
 * @param hosted names of the hosted agents that its steps may name; undefined for a stored workflow
 * @throws MusterError
 */
export function readWorkflow(definition: unknown, field: string, hosted?: readonly string[]): definitions.Workflow {
  const raw = typeof definition === 'string' ? parsedJson(definition) : definition;
  if (!isObject(raw)) {
    const message = 'Invalid workflow: expected an object, or the JSON text of an object.';
    throw new MusterError('INVALID_FORMAT', message, { field, suggestion: SUGGESTION });
  }
  const outline = checked(definitions.outlineSchema, raw, 'The workflow', field);
  const workflow = { ...outline, steps: stepsIn(outline.steps, `${field}.steps`) };
  requireSize('A workflow', field, workflow, MAX_DEFINITION_BYTES);
  requireSound(workflow, field, hosted);
  return workflow;
}

/** Returns the steps and groups in order, with names for steps without a name. */
function stepsIn(entries: readonly unknown[], field: string): readonly (definitions.Step | definitions.Group)[] {
  let count = 0;
  const stepIn = (raw: unknown, at: string): definitions.Step => {
    const unnamed = `step_${++count}`;
    const written = isObject(raw) && 'name' in raw && typeof raw.name === 'string' ? raw.name : unnamed;
    const step = checked(definitions.stepSchema, raw, `Step "${written.slice(0, 64)}"`, at);
    return { ...step, name: step.name ?? unnamed };
  };
  return entries.map((entry, index) => {
    const at = `${field}.${index}`;
    if (!isObject(entry) || !('repeat' in entry)) return stepIn(entry, at);
    const { repeat, steps } = checked(definitions.groupSchema, entry, `The group at ${at}`, at);
    return { repeat, steps: steps.map((step, within) => stepIn(step, `${at}.steps.${within}`)) };
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function requireSound(workflow: definitions.Workflow, field: string, hosted?: readonly string[]): void {
  const steps = definitions.allSteps(workflow);
  if (steps.length > definitions.MAX_STEPS)
    throw invalid(`The workflow has ${steps.length} steps; the maximum is ${definitions.MAX_STEPS}.`, `${field}.steps`);
  const names = steps.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`Step "${twice}": another step has the same name.`, `${field}.steps`);
  requireSoundSteps(workflow, field, hosted);
  const unknown = workflow.result?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`result: unknown step "${unknown}".`, `${field}.result`);
}

function requireSoundSteps(workflow: definitions.Workflow, field: string, hosted?: readonly string[]): void {
  const steps = definitions.allSteps(workflow);
  const entries = workflow.steps.map((of, index) => ({ of, path: `steps.${index}` }));
  const located = entries.flatMap(({ of, path }) =>
    definitions.isGroup(of)
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
    requireAgents(step, fail, hosted);
    requireChoice(step, steps, fail);
    requireReferences(workflow, step, fail);
  }
  for (const { of, path } of entries)
    if (definitions.isGroup(of)) requireReferences(workflow, of, failing(`The group at ${path}`, path));
}

/** Throws an error that names the step or group, and the field `at`. */
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
  return new MusterError('VALIDATION_ERROR', message, { field, reason: 'INVALID_WORKFLOW', suggestion: SUGGESTION });
}

const SUGGESTION =
  'Example: {"name": "custom", "steps": [{"agent": "claude", "role": "plan"}, {"agent": "gemini"}]}. orchestration.list_workflows with detailed: true shows complete definitions.';

/** Validates templates and conditions. All steps to which a step or group refers must come before it. */
function requireReferences(workflow: definitions.Workflow, of: definitions.Step | definitions.Group, fail: Fail): void {
  const known = reachable(workflow, of);
  const all = definitions.allSteps(workflow).map(({ name }) => name);
  const check = (at: string, text: string | undefined, namedIn: (text: string) => readonly string[]): void => {
    if (text === undefined) return;
    try {
      const missing = namedIn(text).find((name) => !known.includes(name));
      if (missing === undefined) return;
      const why = all.includes(missing) ? 'does not come before it' : 'does not exist';
      fail(`${at}: the step "${missing}" ${why}.`, at);
    } catch (error) {
      if (error instanceof ExpressionError) fail(`${at}: ${error.message}`, at);
      throw error;
    }
  };
  if (definitions.isGroup(of)) {
    check('repeat.until', of.repeat.until, checkCondition);
    return;
  }
  check('prompt', of.prompt, checkTemplate);
  check('condition', of.condition, checkCondition);
  check('picks', of.picks, (name) => [name]);
}

/** Returns the steps to which a step or group may refer: all earlier steps, and in a group also the group's steps. */
function reachable(workflow: definitions.Workflow, of: definitions.Step | definitions.Group): readonly string[] {
  const before: definitions.Step[] = [];
  for (const { steps, group } of definitions.blocksOf(workflow)) {
    const isWithin = of === group || steps.some((step) => step === of);
    const stages = definitions.stagesOf(steps);
    const own = stages.findIndex((stage) => stage.some((step) => step === of));
    before.push(...(isWithin && group === undefined ? stages.slice(0, own).flat() : steps));
    if (isWithin) break;
  }
  return before.map(({ name }) => name);
}

function requireAgents(step: definitions.Step, fail: Fail, hosted?: readonly string[]): void {
  const { agent, agents, capabilities } = step;
  const at = agents === undefined ? 'agent' : 'agents';
  if (agent !== undefined && agents !== undefined) fail('set either agent or agents, not both.', at);
  const names = definitions.agentsOf(step);
  const unknown = unknownIn(names, hosted);
  if (unknown !== undefined) fail(unknownAgent(unknown, hosted ?? []), at);
  if (new Set(names).size < names.length) fail('duplicate agent.', at);
  const alone = names.length > 1 && names.find((name) => !isHosted(name));
  if (alone) fail(`"${alone}" must be a step's only agent.`, at);
  if (capabilities.length > 0 && names[0] !== NETWORK)
    fail(`capabilities apply only to the agent "${NETWORK}".`, 'capabilities');
}

/** Validates the mode of a step, and the reference to the step from which it picks. */
function requireChoice(step: definitions.Step, steps: readonly definitions.Step[], fail: Fail): void {
  const { mode, picks, agents } = step;
  const names = definitions.agentsOf(step);
  if (mode !== undefined && names.length === 1) fail(`mode ${mode} requires several agents.`, 'mode');
  if (picks === undefined) return;
  if (names.length > 1 || names[0] === NETWORK)
    fail('a step with picks must have exactly one hosted agent.', agents === undefined ? 'agent' : 'agents');
  const picked = steps.find(({ name }) => name === picks);
  if (picked === undefined) return; // requireReferences reports this error
  if (definitions.agentsOf(picked).length > 1 && (picked.mode ?? 'all') === 'all') return;
  fail(`picks must name a step with several agents and mode all, but "${picks}" is not such a step.`, 'picks');
}

/** A workflow as stored: JSON text, because no query uses its contents. The workflow is validated when it is read. */
export const workflowText = z.codec(z.string(), z.custom<definitions.Workflow>(), {
  decode: (text) => readWorkflow(text, 'workflow'),
  encode: (workflow) => JSON.stringify(workflow),
});

/** The document `workflows/{id}`. */
export const { toDocument: workflowToDocument, fromDocument: workflowFromDocument } = documentCodec(
  z.object({
    /** Derived from the owner and the workflow's name. */
    id: z.string(),
    owner_uid: z.string(),
    definition: workflowText,
    /** 1 when the workflow is created; each change increases it. */
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

export type SavedWorkflow = ReturnType<typeof workflowFromDocument>;
export const workflowFields = fieldsCodec<SavedWorkflow>(workflowToDocument, workflowFromDocument);

export interface WorkflowChanges {
  readonly createWorkflow: { readonly saved: SavedWorkflow };
  readonly replaceWorkflow: { readonly saved: SavedWorkflow; readonly before: SavedWorkflow; readonly version: string };
  readonly deleteWorkflow: { readonly saved: SavedWorkflow; readonly version: string };
}
