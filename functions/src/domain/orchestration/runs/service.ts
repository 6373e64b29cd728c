/** Starting, following, looking at and cancelling runs. */
import { MusterError } from '../../errors.ts';
import { canonicalJson } from '../../json.ts';
import type { Hashing } from '../../ports.ts';
import { hasRole, type Principal } from '../../principal.ts';
import type { Slice, TaskReader } from '../../readers.ts';
import { retryStale } from '../../retry.ts';
import { requireSize } from '../../size.ts';
import type { Change, Settle } from '../../store.ts';
import { isClosed } from '../../tasks/task.ts';
import { allSteps } from '../workflows/definition.ts';
import type { LeaseDependencies } from './lease.ts';
import { runOfTask } from './networkStep.ts';
import type { AnswerCache, RunDispatch } from './ports.ts';
import {
  ended,
  handedOn,
  isEnded,
  isLeased,
  NOTHING_SPENT,
  type Run,
  type RunBudget,
  type RunOrder,
  type RunStatus,
  type Selection,
  type StepRecord,
} from './run.ts';

/** How long a success is given again to the same question. Source: design, section 6, "Orchestration". */
const FRESH_MILLISECONDS = 5 * 60_000;

/** A run may wait for a live agent, but not for ever. */
const LIFETIME_MILLISECONDS = 24 * 3_600_000;

/** An input with its context and workflow is one document. */
const MAX_ORDER_BYTES = 600_000;

const TITLE_LENGTH = 200;

const DUE_BATCH = 100;

export interface RunRequest extends RunOrder {
  readonly selection?: Selection;
  /** Whether a fresh answer to the same question will do, or the one that is being made. */
  readonly cache: boolean;
}

export interface Beginning {
  readonly runId: string;
  /** Whether the run was there already, for the same question. */
  readonly cached: boolean;
}

/** A run as its owner sees it. */
export interface RunView {
  readonly run: Run;
  readonly steps: readonly StepRecord[];
  /** When it was looked at. */
  readonly at: Date;
}

export interface RunServiceDependencies extends LeaseDependencies {
  readonly dispatch: RunDispatch;
  readonly answers: AnswerCache;
  readonly tasks: TaskReader;
  readonly hashing: Hashing;
  /** What the agents are made of: an answer of another model is another answer. */
  readonly models: () => readonly string[];
  /** What a run may spend of which its caller says nothing. */
  readonly budget: RunBudget;
}

export class RunService {
  private readonly dependencies: RunServiceDependencies;

  constructor(dependencies: RunServiceDependencies) {
    this.dependencies = dependencies;
  }

  /** Starts a run, or finds the one that answers the same question. */
  async start(
    principal: Principal,
    workspace: string,
    request: RunRequest,
    settle: Settle<Beginning>,
  ): Promise<Beginning> {
    const order = orderOf(request);
    const key = request.cache ? this.keyOf(principal, workspace, order) : undefined;
    const run = this.newRun(principal, workspace, request);
    const beginning = await retryStale(this.dependencies.randomness, async (): Promise<Beginning> => {
      const kept = key === undefined ? undefined : await this.dependencies.answers.find(key);
      if (kept !== undefined && (await this.isGood(kept.value.runId))) {
        const found = { runId: kept.value.runId, cached: true };
        await this.dependencies.store.commit([], settle(found));
        return found;
      }
      const made = { runId: run.id, cached: false };
      const keep: Change[] = key === undefined ? [] : [keepAnswer(key, run, kept?.version)];
      await this.dependencies.store.commit([{ kind: 'createRun', run, order }, ...keep], settle(made));
      return made;
    });
    if (!beginning.cached) await this.dispatch(run.id);
    return beginning;
  }

  /**
   * The run when it has ended, or as it is when the signal aborts.
   * @param told is told of each change
   */
  async follow(runId: string, until: AbortSignal, told: (run: Run) => void): Promise<void> {
    for await (const run of this.dependencies.runs.watch(runId, until)) {
      told(run);
      if (isEnded(run)) return;
    }
  }

  /** @throws MusterError NOT_FOUND */
  async view(principal: Principal, runId: string): Promise<RunView> {
    const { value: run } = await this.visible(principal, runId);
    const steps = await this.dependencies.runs.steps(runId);
    return { run, steps, at: this.dependencies.clock.now() };
  }

  /**
   * Changes of a run, as they come.
   * @throws MusterError NOT_FOUND
   */
  async watch(principal: Principal, runId: string, end: AbortSignal): Promise<AsyncIterable<Run>> {
    await this.visible(principal, runId);
    return this.dependencies.runs.watch(runId, end);
  }

  /**
   * The owner's, the newest first.
   * @param after the id of the run after which to go on
   * @throws MusterError NOT_FOUND where there is no such run
   */
  async list(
    principal: Principal,
    status: RunStatus | undefined,
    limit: number,
    after: string | undefined,
  ): Promise<Slice<Run>> {
    const { runs } = this.dependencies;
    if (after === undefined) return runs.list(principal.ownerUid, status, { limit });
    const { id, createdAt } = (await this.visible(principal, after)).value;
    return runs.list(principal.ownerUid, status, { limit, after: { at: createdAt, id } });
  }

  /** What a caller has said of its budget, and the deployment's for what it has not. */
  budgetOf(wanted: { readonly tokens?: number | undefined; readonly cost_usd?: number | undefined } = {}): RunBudget {
    const { budget } = this.dependencies;
    return { tokens: wanted.tokens ?? budget.tokens, costUsd: wanted.cost_usd ?? budget.costUsd };
  }

  /**
   * Ends the run: at once where nobody executes it, else as soon as its instance sees that. What has settled stays.
   * @throws MusterError NOT_FOUND, or CONFLICT where it has succeeded or failed
   */
  cancel(principal: Principal, runId: string, settle: Settle<Run>): Promise<Run> {
    const { store, clock, randomness } = this.dependencies;
    return retryStale(randomness, async () => {
      const { value, version } = await this.visible(principal, runId);
      if (isEnded(value) && value.status !== 'cancelled') throw alreadyEnded(value);
      const now = clock.now();
      const asked = { ...value, cancelRequested: true };
      const run = isEnded(value) || isLeased(value, now) ? asked : ended(asked, { status: 'cancelled' }, now);
      await store.commit([{ kind: 'replaceRun', run, version }], settle(run));
      return run;
    });
  }

  /** Dispatches what was not taken up in time: its dispatch was lost, or its instance. Tells how many. */
  async dispatchLost(): Promise<number> {
    const due = await this.dependencies.runs.due(this.dependencies.clock.now(), DUE_BATCH);
    for (const { id } of due) await this.dispatch(id);
    if (due.length > 0) this.dependencies.log.info('runs_dispatched_again', { runs: due.length });
    return due.length;
  }

  /** A task has changed: where it is closed, and was made for a run, the run goes on. */
  async taskChanged(taskId: string): Promise<void> {
    const runId = runOfTask(taskId);
    if (runId === undefined) return;
    const task = (await this.dependencies.tasks.find(taskId))?.value;
    if (task !== undefined && isClosed(task.status)) await this.dependencies.dispatch.dispatch(runId);
  }

  /** Where it fails, the sweep makes up for it: the run is there. */
  async dispatch(runId: string): Promise<void> {
    try {
      await this.dependencies.dispatch.dispatch(runId);
    } catch (error) {
      this.dependencies.log.error('run_not_dispatched', { runId, error });
    }
  }

  private newRun(principal: Principal, workspace: string, { workflow, input, selection }: RunRequest): Run {
    const now = this.dependencies.clock.now();
    return handedOn(
      {
        id: `run-${this.dependencies.randomness.letters(20)}`,
        ownerUid: principal.ownerUid,
        startedBy: principal.uid,
        workspace,
        workflow: workflow.name,
        title: [...input].slice(0, TITLE_LENGTH).join(''),
        status: 'pending',
        createdAt: now,
        cancelRequested: false,
        epoch: 0,
        deadline: new Date(now.getTime() + LIFETIME_MILLISECONDS),
        current: [],
        stepsSettled: 0,
        stepsPlanned: allSteps(workflow).length,
        spent: NOTHING_SPENT,
        warnings: [],
        ...(selection && { selection }),
      },
      now,
    );
  }

  /** Answers are an owner's: whoever asks must not learn what others have asked. */
  private keyOf({ ownerUid }: Principal, workspace: string, order: RunOrder): string {
    const { hashing, models } = this.dependencies;
    return hashing.sha256(canonicalJson([ownerUid, workspace, order, models()]));
  }

  /** A success that is fresh, or a run that may still become one. */
  private async isGood(runId: string): Promise<boolean> {
    const run = (await this.dependencies.runs.find(runId))?.value;
    if (run === undefined) return false;
    if (run.endedAt === undefined) return !run.cancelRequested;
    const age = this.dependencies.clock.now().getTime() - run.endedAt.getTime();
    return run.status === 'succeeded' && age < FRESH_MILLISECONDS;
  }

  private async visible(principal: Principal, runId: string) {
    const found = await this.dependencies.runs.find(runId);
    const isVisible = found?.value.ownerUid === principal.ownerUid || hasRole(principal.role, 'leader');
    if (found !== undefined && isVisible) return found;
    throw new MusterError('NOT_FOUND', `No run "${runId}".`, {
      field: 'runId',
      value: runId,
      suggestion: 'list_runs lists your runs.',
    });
  }
}

/** @throws MusterError VALIDATION_ERROR where it is too much for one document */
function orderOf({ workflow, input, context, budget }: RunRequest): RunOrder {
  const order = { workflow, input, context, budget };
  requireSize('A run', 'input', order, MAX_ORDER_BYTES);
  return order;
}

/** Kept for as long as the run may take, and then for as long as its answer is fresh. */
function keepAnswer(key: string, { id, deadline }: Run, replaces: string | undefined): Change {
  const expiresAt = new Date(deadline.getTime() + FRESH_MILLISECONDS);
  return { kind: 'keepAnswer', key, runId: id, expiresAt, ...(replaces !== undefined && { replaces }) };
}

function alreadyEnded({ id, status }: Run): MusterError {
  return new MusterError('CONFLICT', `Run "${id}" has ${status} already.`, {
    field: 'runId',
    value: id,
    reason: 'ALREADY_ENDED',
    suggestion: 'get_run tells what it came to.',
  });
}
