/** Reads a workflow from what a caller sent, or says which step is wrong and why. */
import type { z } from 'zod';
import { MusterError } from '../../errors.ts';
import { requireSize } from '../../size.ts';
import {
  allSteps,
  type Group,
  groupSchema,
  isGroup,
  MAX_STEPS,
  outlineSchema,
  type Step,
  stepSchema,
  type Workflow,
} from './definition.ts';
import { referenceProblem } from './references.ts';
import { stepProblem } from './stepProblem.ts';

/** A definition, in bytes of JSON. */
export const MAX_DEFINITION_BYTES = 100_000;

/**
 * @param definition an object, or its JSON
 * @param field the argument that it came in
 * @throws MusterError VALIDATION_ERROR or INVALID_FORMAT, naming the step and the reason
 */
export function readWorkflow(definition: unknown, field: string): Workflow {
  const raw = typeof definition === 'string' ? parsedJson(definition, field) : definition;
  if (typeof raw !== 'object' || raw === null) throw notAnObject(field);
  const outline = checked(outlineSchema, raw, 'The workflow', field);
  const steps = new StepNames(field).entries(outline.steps);
  const workflow = { ...outline, steps };
  requireSize('A workflow', field, workflow, MAX_DEFINITION_BYTES);
  requireSound(workflow, field);
  return workflow;
}

/** Reads the steps in their order, and names those that have no name. */
class StepNames {
  private readonly field: string;
  private count = 0;

  constructor(field: string) {
    this.field = `${field}.steps`;
  }

  entries(raw: readonly unknown[]): readonly (Step | Group)[] {
    return raw.map((entry, index) => {
      const field = `${this.field}.${index}`;
      if (typeof entry !== 'object' || entry === null || !('repeat' in entry)) return this.step(entry, field);
      const { repeat, steps } = checked(groupSchema, entry, `The group at ${field}`, field);
      return { repeat, steps: steps.map((step, within) => this.step(step, `${field}.steps.${within}`)) };
    });
  }

  private step(raw: unknown, field: string): Step {
    const unnamed = `step_${++this.count}`;
    const step = checked(stepSchema, raw, `Step "${writtenName(raw) ?? unnamed}"`, field);
    return { ...step, name: step.name ?? unnamed };
  }
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
  for (const { path, step } of located(workflow)) {
    const problem = stepProblem(step, steps) ?? referenceProblem(workflow, step);
    if (problem === undefined) continue;
    throw invalid(`Step "${step.name}": ${problem.reason}`, `${field}.${path}.${problem.at}`);
  }
  for (const [index, entry] of workflow.steps.entries()) {
    const problem = isGroup(entry) ? referenceProblem(workflow, entry) : undefined;
    if (problem === undefined) continue;
    throw invalid(`The group at steps.${index}: ${problem.reason}`, `${field}.steps.${index}.${problem.at}`);
  }
  const unknown = workflow.result?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`result: there is no step "${unknown}".`, `${field}.result`);
}

function located(workflow: Workflow): { readonly path: string; readonly step: Step }[] {
  return workflow.steps.flatMap((entry, index) =>
    isGroup(entry)
      ? entry.steps.map((step, within) => ({ path: `steps.${index}.steps.${within}`, step }))
      : [{ path: `steps.${index}`, step: entry }],
  );
}

function writtenName(raw: unknown): string | undefined {
  if (typeof raw !== 'object' || raw === null || !('name' in raw)) return undefined;
  return typeof raw.name === 'string' ? raw.name.slice(0, 64) : undefined;
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
