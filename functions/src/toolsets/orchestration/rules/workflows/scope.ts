/** What templates and conditions see: the input, the context, and the outputs of the steps so far. */
import type { JsonObject } from '../../../../kernel/json.ts';
import { allSteps, type Workflow } from './definition.ts';

/** What one of several agents has answered. */
export interface StepResult {
  readonly agent: string;
  readonly output: string;
}

/** How a step ended. A step that was skipped has no outcome. */
export type StepOutcome =
  | { readonly status: 'done'; readonly output: string; readonly results?: readonly StepResult[] }
  | { readonly status: 'failed'; readonly error: string };

export interface StepView {
  readonly status: 'pending' | 'done' | 'skipped';
  /** Of the latest round in which it ran; empty before. */
  readonly output: string;
  readonly results: readonly StepResult[];
}

export interface Scope {
  readonly input: string;
  readonly context: JsonObject;
  /** The round of a repeated group, from 1; outside of one, 1. */
  readonly iteration: number;
  readonly steps: ReadonlyMap<string, StepView>;
}

export type Given = Pick<Scope, 'input' | 'context'>;

const UNBEGUN: StepView = { status: 'pending', output: '', results: [] };

export function scopeAtStart(workflow: Workflow, { input, context }: Given): Scope {
  return {
    input,
    context,
    iteration: 1,
    steps: new Map(allSteps(workflow).map(({ name }) => [name, UNBEGUN])),
  };
}

export function withStep(scope: Scope, name: string, change: Partial<StepView>): Scope {
  const view = { ...(scope.steps.get(name) ?? UNBEGUN), ...change };
  return { ...scope, steps: new Map(scope.steps).set(name, view) };
}
