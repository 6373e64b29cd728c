/** Who sees a run, and how much of it. Source: docs/semantics.md#who-may-do-what. */
import type { Budget, CountedBudget } from '../../../../graph/rules/budget.ts';
import { type Principal, roleIn } from '../../../../identity/rules/principal.ts';
import { hasRole } from '../../../../identity/rules/role.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import type { Position } from '../../../../kernel/paging.ts';
import type { StepRecord } from '../steps/step.ts';
import { type Run, type ShownStep, shownStep } from './run.ts';

/**
 * `all`: its owner and the owner's agents, if they have a role in its workspace now. `course`: leaders of its
 * workspace see its state, steps and cost, and may cancel it. Nobody else knows of it.
 */
export type Sight = 'all' | 'course';

export function sightOf(principal: Principal, run: Pick<Run, 'owner_uid' | 'workspace'>): Sight | undefined {
  const role = roleIn(principal, run.workspace);
  if (role === undefined) return undefined;
  if (run.owner_uid === principal.owner_uid) return 'all';
  return hasRole(role, 'leader') ? 'course' : undefined;
}

/** The place of a run in a list by time of creation. */
export function placeOf({ created_at: at, id }: Run): Position {
  return { at, id };
}

const WITHHELD = 'Its owner sees why.';

/** A run as its owner sees it, or its course alone. */
export interface RunView {
  readonly sight: Sight;
  readonly run: Run;
  readonly steps: readonly ShownStep[];
  readonly at: Date;
  /** Those that hold for it while it goes on, as far as the viewer may know of them. */
  readonly budgets: readonly CountedBudget[];
}

export function viewOf(
  principal: Principal,
  run: Run,
  {
    records,
    holding,
  }: { readonly records: readonly StepRecord[]; readonly holding: readonly CountedBudget[] },
  at: Date,
): RunView {
  const steps = records.map((step) => shownStep(step, run));
  const budgets = holding.filter(({ budget }) => mayKnow(principal, run, budget));
  if (sightOf(principal, run) === 'all') return { sight: 'all', run, steps, at, budgets };
  return { sight: 'course', run: courseOf(run), steps: steps.map(courseOfStep), at, budgets };
}

/** Its own; of tasks and the workspace, whoever has a role there; of a to-do, its owner. Of others' runs nobody. */
function mayKnow(principal: Principal, run: Run, { kind, thing_id: id, owner_uid }: Budget): boolean {
  if (kind === 'run') return id === run.id;
  return kind === 'todo' ? owner_uid === principal.owner_uid : roleIn(principal, run.workspace) !== undefined;
}

/** The run without what its owner has asked and what it has brought, and without texts that may quote either. */
function courseOf({ result_step: _, selection: __, ...run }: Run): Run {
  return {
    ...run,
    title: '',
    warnings: [],
    ...(run.failure && { failure: { ...run.failure, message: WITHHELD } }),
  };
}

function courseOfStep({ output: _, explanation: __, ...step }: ShownStep): ShownStep {
  return {
    ...step,
    attempts: step.attempts.map(({ reason: ___, ...attempt }) => attempt),
    ...(step.results && { results: step.results.map(({ agent }) => ({ agent })) }),
    ...(step.failure && { failure: { ...step.failure, message: WITHHELD } }),
  };
}

/** The same for a run that is not there and for one that is not theirs. */
export function noRun(runId: string): MusterError {
  return new MusterError('NOT_FOUND', `No run "${runId}".`, {
    field: 'runId',
    value: runId,
    suggestion: 'orchestration.list_runs lists your runs.',
  });
}
