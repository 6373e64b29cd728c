/**
 * Computes the next steps of a workflow from the outcomes recorded so far. Each computation replays the workflow from
 * its start. A run therefore stores no position: every instance that continues it computes the same next steps with
 * the same prompts.
 */
import { characterCount } from '../../../../kernel/text.ts';
import type { AgentRole } from '../agents/profile.ts';
import { evaluateCondition } from './condition.ts';
import { allSteps, type Block, blocksOf, type Step, stagesOf, type Workflow } from './definition.ts';
import {
  BoundedText,
  ExpressionError,
  fenced,
  printed,
  type Scope,
  type StepOutcome,
  type StepResult,
  type StepView,
} from './scope.ts';
import { renderTemplate } from './template.ts';

/** A step in one round of its repeated group. Outside of groups, the round is 1. */
export interface StepRound {
  readonly name: string;
  readonly iteration: number;
}

export interface DueStep extends StepRound {
  readonly step: Step;
  readonly prompt: string;
  /** Outputs from which the step picks the best one. */
  readonly candidates?: readonly StepResult[];
}

export type Next =
  /** Steps of one stage to execute concurrently, without the steps that have already ended. */
  | { readonly kind: 'execute'; readonly steps: readonly DueStep[] }
  | { readonly kind: 'finished'; readonly output: string; readonly result: string | undefined }
  | {
      readonly kind: 'failed';
      readonly at: StepRound;
      /** For `STEP_FAILED`, the record of the step contains the details. */
      readonly reason: 'STEP_FAILED' | 'CONDITION_FAILED' | 'PROMPT_TOO_LARGE';
      readonly error: string;
    };

export interface Progress {
  readonly next: Next;
  /** Steps that were skipped because their condition was false. */
  readonly skipped: readonly StepRound[];
  readonly warnings: readonly string[];
}

/** Computes the next steps of a workflow. @param outcomes outcomes of steps, keyed by `outcomeKey` */
export function progressOf(...given: ConstructorParameters<typeof Replay>): Progress {
  return new Replay(...given).progress();
}

export function outcomeKey({ name, iteration }: StepRound): string {
  return `${name}#${iteration}`;
}

const NOT_STARTED: StepView = { status: 'pending', output: '', results: [] };

/** Replays a workflow until outcomes are missing, and continues there after they were added. */
export class Replay {
  private readonly workflow: Workflow;
  private readonly outcomes: ReadonlyMap<string, StepOutcome>;
  private readonly skipped: StepRound[] = [];
  private readonly warnings: string[] = [];
  private readonly executed: string[] = [];
  private readonly course = this.next();
  private scope: Scope;

  constructor(
    workflow: Workflow,
    { input, context }: Pick<Scope, 'input' | 'context'>,
    outcomes: ReadonlyMap<string, StepOutcome>,
  ) {
    this.workflow = workflow;
    this.outcomes = outcomes;
    const steps = new Map(allSteps(workflow).map(({ name }) => [name, NOT_STARTED]));
    this.scope = { input, context, iteration: 1, steps };
  }

  progress(): Progress {
    return { next: this.course.next().value, skipped: this.skipped, warnings: this.warnings };
  }

  /** Yields the steps whose outcomes are missing. Returns how the workflow ends. */
  private *next(): Generator<Next, Next> {
    for (const block of blocksOf(this.workflow)) {
      const stopped = yield* this.block(block);
      if (stopped !== undefined) return stopped;
    }
    const result = this.workflow.result?.find((name) => this.executed.includes(name)) ?? this.executed.at(-1);
    const output = (result !== undefined && this.scope.steps.get(result)?.output) || '';
    return { kind: 'finished', output, result };
  }

  /** @returns why the workflow stops here; undefined if all steps of the block have ended */
  private *block({ steps, group }: Block): Generator<Next, Next | undefined> {
    const { until, max } = group?.repeat ?? { until: 'true', max: 1 };
    for (let iteration = 1; iteration <= max; iteration++) {
      this.scope = { ...this.scope, iteration };
      const stopped = yield* this.round(steps, iteration);
      if (stopped !== undefined) return stopped;
      const met = this.judged(until, { name: steps.at(-1)?.name ?? '', iteration });
      if (typeof met !== 'boolean') return met;
      if (met) break;
      if (iteration < max) continue;
      const names = steps.map(({ name }) => name).join(', ');
      this.warnings.push(`${names}: stopped after ${max} rounds without meeting the condition ${until}.`);
    }
    this.scope = { ...this.scope, iteration: 1 };
    return undefined;
  }

  private *round(steps: readonly Step[], iteration: number): Generator<Next, Next | undefined> {
    for (const stage of stagesOf(steps)) {
      const due: Step[] = [];
      for (const step of stage) {
        const { condition, name } = step;
        const wanted = condition === undefined || this.judged(condition, { name, iteration });
        if (typeof wanted !== 'boolean') return wanted;
        if (wanted) due.push(step);
      }
      const stopped = yield* this.stage(due, iteration);
      if (stopped !== undefined) return stopped;
      for (const { name } of stage.filter((step) => !due.includes(step))) {
        this.skipped.push({ name, iteration });
        this.observe(name, { ...(this.scope.steps.get(name) ?? NOT_STARTED), status: 'skipped' });
      }
    }
    return undefined;
  }

  private judged(condition: string, at: StepRound): boolean | Next {
    try {
      return evaluateCondition(condition, this.scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      const why = `The condition ${condition} could not be evaluated: ${error.message}`;
      return { kind: 'failed', at, reason: 'CONDITION_FAILED', error: why };
    }
  }

  /** Makes the outcomes of a stage available to later steps. Yields the steps to execute while outcomes are missing. */
  private *stage(steps: readonly Step[], iteration: number): Generator<Next, Next | undefined> {
    for (;;) {
      const open: Step[] = [];
      const views: [name: string, view: StepView][] = [];
      for (const step of steps) {
        const at = { name: step.name, iteration };
        const outcome = this.outcomes.get(outcomeKey(at));
        if (outcome === undefined) open.push(step);
        else if (outcome.status === 'failed')
          return { kind: 'failed', at, reason: 'STEP_FAILED', error: outcome.error };
        else views.push([step.name, { results: [], ...outcome }]);
      }
      if (open.length === 0) {
        for (const [name, view] of views) this.observe(name, view);
        this.executed.push(...steps.map(({ name }) => name));
        return undefined;
      }
      yield this.due(open, iteration);
    }
  }

  private observe(name: string, view: StepView): void {
    this.scope = { ...this.scope, steps: new Map(this.scope.steps).set(name, view) };
  }

  private due(steps: readonly Step[], iteration: number): Next {
    const due: DueStep[] = [];
    for (const step of steps) {
      const at = { name: step.name, iteration };
      try {
        const prompt = promptOf(this.workflow, step, this.scope);
        const candidates = step.picks && this.scope.steps.get(step.picks)?.results;
        due.push({ ...at, step, prompt, ...(candidates && { candidates }) });
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        const why = `The prompt could not be built: ${error.message}`;
        return { kind: 'failed', at, reason: 'PROMPT_TOO_LARGE', error: why };
      }
    }
    return { kind: 'execute', steps: due };
  }
}

const TASK_OF_ROLE: Readonly<Record<AgentRole, string>> = {
  plan: 'Plan how to do this. Give numbered steps that someone else can carry out. Do not carry them out yourself.',
  execute: 'Do this, completely.',
  review: 'Review the work done for this. For each problem, state what is wrong, how serious it is and how to fix it.',
};

/**
 * Returns the prompt of a step: its template, or else the instruction for its role, followed by the input, the
 * context and the outputs so far. An execute step without previous outputs gets no instruction. A step that picks
 * gets only the input here, because the answers follow in the request to rank them.
 * @throws ExpressionError if the prompt would be too long
 */
function promptOf(workflow: Workflow, step: Step, scope: Scope): string {
  if (step.prompt !== undefined) return renderTemplate(step.prompt, scope);
  const { input, context } = scope;
  const outputs = step.picks === undefined ? outputsSoFar(workflow, scope) : [];
  const task = [{ text: input, what: 'the input' }];
  if (Object.keys(context).length > 0) task.push({ text: `Context: ${printed(context)}`, what: 'the context' });
  const isBare = step.picks !== undefined || (step.role === 'execute' && outputs.length === 0);
  const role = { text: TASK_OF_ROLE[step.role], what: "the role's instruction" };
  const whole = new BoundedText();
  for (const [index, { text, what }] of (isBare ? task : [role, ...task, ...outputs]).entries()) {
    if (index > 0) whole.add('\n\n', what);
    whole.add(text, what);
  }
  return whole.toString();
}

/** Returns the outputs so far. `what` names an output in the error message about a prompt that is too long. */
function outputsSoFar(workflow: Workflow, scope: Scope): { readonly text: string; readonly what: string }[] {
  return allSteps(workflow).flatMap(({ name }) => {
    const output = scope.steps.get(name)?.output ?? '';
    const what = `the output of the step ${name} (${characterCount(output)} characters)`;
    return output === '' ? [] : [{ text: fenced(`Output of the step ${name}`, output), what }];
  });
}
