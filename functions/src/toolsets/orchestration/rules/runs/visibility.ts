/** Defines who may see which parts of a run. Source: docs/semantics.md#permissions. */
import type { Progress, WaitReason } from '../../../../access/rules/decision.ts';
import { type Budget, type CountedBudget, waitsForBudget } from '../../../../graph/rules/budget.ts';
import { type Principal, roleIn } from '../../../../identity/rules/principal.ts';
import { hasRole } from '../../../../identity/rules/role.ts';
import { type MusterError, notFound } from '../../../../kernel/errors.ts';
import type { TimeCursor } from '../../../../kernel/paging.ts';
import type { HostedAgent } from '../agents/model.ts';
import type { StepRecord } from '../steps/step.ts';
import { isEnded, type Run, type ShownStep, shownStep } from './run.ts';

/**
 * `all`: the whole run, for its owner and the owner's agents with a role in the workspace. `course`: state, steps and
 * cost, for leaders of the workspace, who can also cancel the run. Other callers do not see the run.
 */
export type Visibility = 'all' | 'course';

export function visibilityOf(principal: Principal, run: Pick<Run, 'owner_uid' | 'workspace'>): Visibility | undefined {
  const role = roleIn(principal, run.workspace);
  if (role === undefined) return undefined;
  if (run.owner_uid === principal.owner_uid) return 'all';
  return hasRole(role, 'leader') ? 'course' : undefined;
}

/** Returns the position of a run in a list that is sorted by creation time. */
export function cursorOf({ created_at: at, id }: Run): TimeCursor {
  return { at, id };
}

const HIDDEN_FIELDS = 'Only the run owner sees the reason.';

export interface RunView {
  readonly visibility: Visibility;
  readonly run: Run;
  readonly steps: readonly ShownStep[];
  readonly at: Date;
  /** Budgets that apply to the run and are visible to the viewer; empty if the run has ended. */
  readonly budgets: readonly CountedBudget[];
}

export function viewOf(
  principal: Principal,
  run: Run,
  { records, holding }: { readonly records: readonly StepRecord[]; readonly holding: readonly CountedBudget[] },
  at: Date,
): RunView {
  const steps = records.map((step) => shownStep(step, run));
  const budgets = holding.filter(({ budget }) => canSee(principal, run, budget));
  if (visibilityOf(principal, run) === 'all') return { visibility: 'all', run, steps, at, budgets };
  return { visibility: 'course', run: visibleRunOf(run), steps: steps.map(visibleStepOf), at, budgets };
}

/** Callers see budgets of the run, of workspaces in which they have a role, of tasks there, and of own to-dos. */
function canSee(principal: Principal, run: Run, { kind, thing_id: id, owner_uid }: Budget): boolean {
  if (kind === 'run') return id === run.id;
  return kind === 'todo' ? owner_uid === principal.owner_uid : roleIn(principal, run.workspace) !== undefined;
}

/** Returns the run without its input, its output, and all texts that may contain parts of either. */
function visibleRunOf({ result_step: _, selection: __, ...run }: Run): Run {
  return {
    ...run,
    title: '',
    warnings: [],
    ...(run.failure && { failure: { ...run.failure, message: HIDDEN_FIELDS } }),
  };
}

function visibleStepOf({ output: _, explanation: __, ...step }: ShownStep): ShownStep {
  return {
    ...step,
    attempts: step.attempts.map(({ reason: ___, ...attempt }) => attempt),
    ...(step.results && { results: step.results.map(({ agent }) => ({ agent })) }),
    ...(step.failure && { failure: { ...step.failure, message: HIDDEN_FIELDS } }),
  };
}

/** Returns one error for both missing and hidden runs, so that it does not reveal whether a hidden run exists. */
export function runNotFound(runId: string): MusterError {
  return notFound('Run', { runId }, 'orchestration.list_runs lists your runs.');
}

// Why a run does not go ahead, and what changes that. Source: docs/guides/access.md#why.

export function progressOf({ run, steps }: Pick<RunView, 'run' | 'steps'>): Progress {
  const { status, failure } = run;
  const why = failure === undefined ? '' : ` ${failure.message}`;
  return { state: `The run is ${status}.${why}`, waits: isEnded(run) ? [] : waitsOf({ run, steps }) };
}

function waitsOf({ run, steps }: Pick<RunView, 'run' | 'steps'>): readonly WaitReason[] {
  const { budget_wait: budget, status } = run;
  if (budget !== undefined) return [budgetReason(budget)];
  if (status !== 'waiting') return [];
  return steps.flatMap(({ name, task_id, settled_at }) => {
    if (task_id === undefined || settled_at !== undefined) return [];
    const remedy = `access.explain {"task": "${task_id}"} explains that task.`;
    return [{ why: `Step "${name}" waits for a live agent, in task "${task_id}".`, remedy }];
  });
}

/** A reserve is not spent: running calls hold it, and return what they do not use. */
export function budgetReason({ key, is_spent }: { readonly key: string; readonly is_spent: boolean }): WaitReason {
  if (!is_spent)
    return {
      why: 'Running calls have reserved the rest of a budget.',
      remedy: 'The run continues when these calls end.',
    };
  const remedy = 'The person who set the budget was asked to raise it. system.setBudget raises it, too.';
  return { why: waitsForBudget(key), remedy };
}

/** Returns why no hosted agent can be used; nothing if at least one can. */
export function unavailableAgents(
  hosted: readonly Pick<HostedAgent, 'name' | 'availability'>[],
): readonly WaitReason[] {
  const states = hosted.map((agent) => ({ name: agent.name, ...agent.availability() }));
  if (states.some(({ available }) => available)) return [];
  const remedy = 'The operator sets its API key: docs/guides/models.md.';
  return states.flatMap((state) => {
    return state.available ? [] : { why: `The agent ${state.name} cannot be used. ${state.reason}`, remedy };
  });
}
