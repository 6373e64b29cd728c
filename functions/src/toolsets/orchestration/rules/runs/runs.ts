/** Starting, following, looking at and cancelling runs. */
import { hasRole, type Principal } from '../../../../access/rules/principal.ts';
import type { RecordAnswer, Versioned } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import type { Slice } from '../../../../kernel/paging.ts';
import { readFor, unlessUnreadable } from '../../../../kernel/ports.ts';
import { type SweepPart, type SweepTurn, type Swept, walk } from '../../../../kernel/sweep.ts';
import { retryStale } from '../../../../kernel/waiting.ts';
import { isClosed } from '../../../coordination/index.ts';
import type { AgentRoster } from '../agents/selection.ts';
import { runOfTask, taskCancellations } from '../network.ts';
import type { OrchestrationPorts } from '../ports.ts';
import type { WorkflowLibrary } from '../workflows/library.ts';
import {
  ended,
  isEnded,
  isLeased,
  type Run,
  type RunBudget,
  type RunStatus,
  type ShownStep,
  shownStep,
} from './run.ts';
import { type Beginning, type RunRequest, storeRun } from './starting.ts';

const DUE_BATCH = 100;

/** A run as its owner sees it. */
export interface RunView {
  readonly run: Run;
  readonly steps: readonly ShownStep[];
  /** When it was looked at. */
  readonly at: Date;
}

export class RunService {
  readonly part: SweepPart = { name: 'runs', run: (turn) => this.dispatchLost(turn) };
  private readonly ports: OrchestrationPorts;

  constructor(ports: OrchestrationPorts) {
    this.ports = ports;
  }

  /** Starts a run, or finds the one that answers the same question. */
  async start(
    principal: Principal,
    workspace: string,
    request: RunRequest,
    recordAnswer: RecordAnswer<Beginning>,
  ): Promise<Beginning> {
    const { beginning, isToBeDispatched } = await storeRun(
      this.ports,
      principal,
      workspace,
      request,
      recordAnswer,
    );
    if (isToBeDispatched) await this.dispatch(beginning.runId);
    return beginning;
  }

  /**
   * Dispatches a run that nobody has taken yet: the instance that stored it may have died before it did that. One
   * that is dispatched twice is executed once.
   */
  async dispatchPending(runId: string): Promise<void> {
    const run = (await this.ports.runs.find(runId))?.value;
    if (run?.status === 'pending') await this.dispatch(runId);
  }

  /** What a caller has said of its budget, and the deployment's for what it has not. */
  budgetOf(
    wanted: { readonly tokens?: number | undefined; readonly cost_usd?: number | undefined } = {},
  ): RunBudget {
    const { budget } = this.ports;
    return { tokens: wanted.tokens ?? budget.tokens, costUsd: wanted.cost_usd ?? budget.costUsd };
  }

  /**
   * The run when it has ended, or as it is when the signal aborts.
   * @param told is told of each change
   */
  async follow(runId: string, until: AbortSignal, told: (run: Run) => void): Promise<void> {
    for await (const run of this.ports.runs.watch(runId, until)) {
      told(run);
      if (isEnded(run)) return;
    }
  }

  /** @throws MusterError NOT_FOUND */
  async view(principal: Principal, runId: string): Promise<RunView> {
    const { value: run } = await this.visible(principal, runId);
    const steps = await this.ports.runs.steps(runId);
    return { run, steps: steps.map((step) => shownStep(step, run)), at: this.ports.clock.now() };
  }

  /**
   * Changes of a run, as they come.
   * @throws MusterError NOT_FOUND
   */
  async watch(principal: Principal, runId: string, end: AbortSignal): Promise<AsyncIterable<Run>> {
    await this.visible(principal, runId);
    return this.ports.runs.watch(runId, end);
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
    const { runs } = this.ports;
    if (after === undefined) return runs.list(principal.ownerUid, status, { limit });
    const { id, createdAt } = (await this.visible(principal, after)).value;
    return runs.list(principal.ownerUid, status, { limit, after: { at: createdAt, id } });
  }

  /**
   * Ends the run: at once where nobody executes it, else as soon as its instance sees that. What has settled stays.
   * @throws MusterError NOT_FOUND, or CONFLICT where it has succeeded or failed
   */
  cancel(principal: Principal, runId: string, recordAnswer: RecordAnswer<Run>): Promise<Run> {
    const { tasks, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const { value, version } = await this.visible(principal, runId);
      if (isEnded(value) && value.status !== 'cancelled') {
        throw new MusterError('CONFLICT', `Run "${runId}" has ${value.status} already.`, {
          field: 'runId',
          value: runId,
          reason: 'ALREADY_ENDED',
          suggestion: 'get_run tells what it came to.',
        });
      }
      const now = clock.now();
      const asked = { ...value, cancelRequested: true };
      const run = isEnded(value) || isLeased(value, now) ? asked : ended(asked, { status: 'cancelled' }, now);
      const cancelled = isEnded(value) ? [] : await taskCancellations(tasks, run, now);
      await store.commit([{ kind: 'replaceRun', run, version }, ...cancelled], recordAnswer(run));
      return run;
    });
  }

  /**
   * A run is seen by its owner, the owner's agents and leaders. Those of them that may call `cancel_run` may cancel it.
   * @throws MusterError NOT_FOUND for everybody else, as if there were none
   */
  private async visible({ role, ownerUid }: Principal, runId: string): Promise<Versioned<Run>> {
    const reading = this.ports.runs.find(runId);
    const isLeader = hasRole(role, 'leader');
    const found = await (isLeader ? reading : readFor(ownerUid, reading));
    if (found !== undefined && (isLeader || found.value.ownerUid === ownerUid)) return found;
    throw new MusterError('NOT_FOUND', `No run "${runId}".`, {
      field: 'runId',
      value: runId,
      suggestion: 'list_runs lists your runs.',
    });
  }

  /** Dispatches what was not taken up in time: its dispatch was lost, or its instance. */
  private async dispatchLost(turn: SweepTurn): Promise<Swept> {
    let dispatched = 0;
    const end = await walk(
      turn,
      (after) => this.ports.runs.due(turn.now, DUE_BATCH, after),
      async ({ id }) => {
        await this.dispatch(id);
        dispatched++;
      },
    );
    return { ...end, counts: { dispatched } };
  }

  /**
   * A task has changed. Where it was made for a run and is closed, the run goes on; where it is open and the run
   * has ended, as when an instance made it that had lost the run, it is cancelled.
   */
  async taskChanged(taskId: string): Promise<void> {
    const runId = runOfTask(taskId);
    if (runId === undefined) return;
    // What becomes readable again is written, and so comes here again.
    const task = (await unlessUnreadable(this.ports.tasks.find(taskId)))?.value;
    if (task === undefined) return;
    if (isClosed(task.status)) await this.ports.dispatch.dispatch(runId);
    else await this.cancelOpenTasks(runId);
  }

  private cancelOpenTasks(runId: string): Promise<void> {
    const { runs, tasks, store, clock, randomness } = this.ports;
    return retryStale(randomness, async () => {
      const run = (await runs.find(runId))?.value;
      const changes = run === undefined ? [] : await taskCancellations(tasks, run, clock.now());
      if (changes.length > 0) await store.commit(changes);
    });
  }

  /** Where it fails, the sweep makes up for it: the run is there. */
  async dispatch(runId: string): Promise<void> {
    try {
      await this.ports.dispatch.dispatch(runId);
    } catch (error) {
      this.ports.log.error('run_not_dispatched', { runId, error });
    }
  }
}

/** What the orchestration tools ask. */
export interface OrchestrationServices {
  readonly workflows: WorkflowLibrary;
  readonly roster: AgentRoster;
  readonly runs: RunService;
}
