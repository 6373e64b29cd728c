/** Starts, follows, shows and cancels runs. */
import { budgetKeysOf } from '../../../../graph/rules/budget.ts';
import { nodeKey } from '../../../../graph/rules/graphNode.ts';
import { linkToParent } from '../../../../graph/rules/linking.ts';
import type { Principal } from '../../../../identity/rules/principal.ts';
import type { RecordResponse, Versioned } from '../../../../kernel/commit.ts';
import { retryOnConflict } from '../../../../kernel/concurrency.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { type VisiblePage, visiblePage } from '../../../../kernel/paging.ts';
import { readFor, Service, skipUnreadable } from '../../../../kernel/ports.ts';
import { type SweepContext, type SweepJob, type SweepReport, sweepPages } from '../../../../kernel/sweep.ts';
import { isClosed } from '../../../coordination/index.ts';
import type { OrchestrationChange, OrchestrationPorts } from '../ports.ts';
import { seededRandom } from '../steps/judging.ts';
import { runOfTask } from '../steps/networkStep.ts';
import { cancellationOf, cancelOpenRun, cancelReason, taskCancellations } from './cancelling.ts';
import { cacheKeyOf, newRun, ordersOf, type RunRequest } from './order.ts';
import { isEnded, isLeased, type Run, type RunOrder, type RunStatus } from './run.ts';
import { cursorOf, type RunView, runNotFound, viewOf, visibilityOf } from './visibility.ts';

const DUE_BATCH = 100;

/** Time for which a successful answer is reused. Source: docs/semantics.md#orchestration. */
const CACHE_TTL_MS = 5 * 60_000;

export interface StartedRun {
  readonly runId: string;
  /** Whether the run already existed, because the same question was asked before. */
  readonly cached: boolean;
}

export class RunService extends Service<OrchestrationPorts> {
  readonly sweepJob: SweepJob = { name: 'runs', run: (turn) => this.dispatchLost(turn) };

  /** Starts a run, or returns the run that was started for the same question within the cache time. */
  async start(
    principal: Principal,
    workspace: string,
    request: RunRequest,
    recordResponse: RecordResponse<StartedRun>,
  ): Promise<StartedRun> {
    const { clock, randomness, hashing, hosted, runs, store } = this.ports;
    const { owner_uid } = principal;
    const id = `run-${randomness.letters(20)}`;
    const { asked, order, reasons } = ordersOf(request, seededRandom(hashing, id));
    const { selection, part_of } = request;
    const run = newRun(
      { id, workspace, created_at: clock.now() },
      principal,
      request,
      selection && { ...selection, reasons: [...selection.reasons, ...reasons] },
    );
    const models = hosted().map(({ model }) => model);
    const key = cacheKeyOf(hashing, request, asked, { ownerUid: owner_uid, workspace, models });
    const beginning = await retryOnConflict(randomness, async () => {
      const kept = key === undefined ? undefined : await runs.answer(key);
      const good = kept && (await this.cachedRun(kept.value.run_id));
      if (good !== undefined) {
        await store.commit([], recordResponse({ runId: good.id, cached: true }));
        return { runId: good.id, cached: true, status: good.status };
      }
      const { id: runId, deadline, status } = run;
      // The cache entry expires at the run's deadline plus the time for which its answer is reused.
      const expiresAt = new Date(deadline.getTime() + CACHE_TTL_MS);
      const link = part_of && (await linkToParent(this.ports, { part_of, principal, workspace }));
      const changes: OrchestrationChange[] = [
        { kind: 'createRun', run: { ...run, ...link?.parents }, order },
        ...(link?.changes ?? []),
      ];
      if (key !== undefined) changes.push({ kind: 'cacheResponse', key, runId, expiresAt, replaces: kept?.version });
      await store.commit(changes, recordResponse({ runId, cached: false }));
      return { runId, cached: false, status };
    });
    const { status, ...answer } = beginning;
    // The instance that stored the run may have crashed before dispatching it. A second dispatch does no harm.
    if (status === 'pending') await this.dispatch(answer.runId);
    return answer;
  }

  /** Returns the run if it has not ended, or if its answer can be reused. */
  private async cachedRun(runId: string): Promise<Run | undefined> {
    const run = (await this.ports.runs.find(runId))?.value;
    if (run?.ended_at === undefined) return run?.cancel_requested ? undefined : run;
    const age = this.ports.clock.now().getTime() - run.ended_at.getTime();
    return run.status === 'succeeded' && age < CACHE_TTL_MS ? run : undefined;
  }

  /** Dispatches a pending run, because its instance may have crashed before dispatching it. This may be repeated. */
  async dispatchPending(runId: string): Promise<void> {
    if ((await this.ports.runs.find(runId))?.value.status === 'pending') await this.dispatch(runId);
  }

  /** Returns the budget of a run. Omitted limits are the defaults of the deployment. */
  budgetOf(
    wanted: { readonly tokens?: number | undefined; readonly cost_usd?: number | undefined } = {},
  ): RunOrder['budget'] {
    const { budget } = this.ports;
    return { tokens: wanted.tokens ?? budget.tokens, cost_usd: wanted.cost_usd ?? budget.cost_usd };
  }

  /** Reports changes of the run until it ends or the signal aborts. @param onChange called with the run at each change */
  async follow(runId: string, until: AbortSignal, onChange: (run: Run) => void): Promise<void> {
    for await (const run of this.ports.runs.watch(runId, until)) {
      onChange(run);
      if (isEnded(run)) return;
    }
  }

  /** Returns the run without its steps. @throws MusterError NOT_FOUND if the run is missing or hidden */
  async find(principal: Principal, runId: string): Promise<Run> {
    return (await this.visible(principal, runId)).value;
  }

  /** @throws MusterError NOT_FOUND if the run is missing or hidden */
  async view(principal: Principal, runId: string): Promise<RunView> {
    const { value: run } = await this.visible(principal, runId);
    const { runs, budgets, clock } = this.ports;
    const [steps, holding] = await Promise.all([
      runs.steps(runId),
      isEnded(run) ? [] : budgets.limited(budgetKeysOf(nodeKey({ kind: 'run', id: runId }), run)),
    ]);
    return viewOf(principal, run, { records: steps, holding }, clock.now());
  }

  /** Watches a run. @throws MusterError NOT_FOUND if the run is missing or hidden */
  async watch(principal: Principal, runId: string, end: AbortSignal): Promise<AsyncIterable<Run>> {
    await this.visible(principal, runId);
    return this.ports.runs.watch(runId, end);
  }

  /**
   * Lists the runs of the caller's owner in workspaces where the caller has a role, newest first.
   * @param after id of the last run on the previous page; the run may have become hidden since then
   * @throws MusterError NOT_FOUND if the owner has no run with this id
   */
  async list(
    principal: Principal,
    status: RunStatus | undefined,
    limit: number,
    after: string | undefined,
  ): Promise<VisiblePage<Run>> {
    const { owner_uid, held_to: workspace } = principal;
    const { runs } = this.ports;
    const last = after === undefined ? undefined : (await readFor(owner_uid, runs.find(after)))?.value;
    const isOwn = last?.owner_uid === owner_uid && [undefined, last.workspace].includes(workspace);
    if (after !== undefined && !isOwn) throw runNotFound(after);
    return visiblePage(
      { limit, ...(last && { after: cursorOf(last) }) },
      (page) => runs.list(owner_uid, { status, workspace }, page),
      cursorOf,
      (run) => (visibilityOf(principal, run) === 'all' ? run : undefined),
    );
  }

  /**
   * Cancels the run now, or asks the instance that executes the run to cancel it. Ended steps do not change.
   * @throws MusterError NOT_FOUND if the run is missing or hidden; CONFLICT if it has succeeded or failed
   */
  cancel(principal: Principal, runId: string, recordResponse: RecordResponse<Run>): Promise<Run> {
    const { store, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = await this.visible(principal, runId);
      const { value } = found;
      if (isEnded(value) && value.status !== 'cancelled')
        throw new MusterError('CONFLICT', `Run "${runId}" has already ended; its status is ${value.status}.`, {
          field: 'runId',
          value: runId,
          reason: 'ALREADY_ENDED',
          suggestion: 'orchestration.get_run returns its result.',
        });
      const { run, changes } = await cancellationOf(this.ports, found);
      await store.commit(changes, recordResponse(run));
      return run;
    });
  }

  /** Cancels the runs that are parts of a cancelled task. Calls may be repeated, late, and in any order. */
  async cancelTree(taskId: string): Promise<void> {
    const { tasks, graph } = this.ports;
    const task = (await skipUnreadable(tasks.find(taskId)))?.value;
    if (task?.status !== 'cancelled') return;
    const parts = await graph.openParts({ kind: 'task', id: taskId }, 'run');
    await Promise.all(parts.map((runId) => cancelOpenRun(this.ports, runId, cancelReason(task))));
  }

  /** Returns a run if the caller may see it. @throws MusterError NOT_FOUND if the run is missing or hidden */
  private async visible(principal: Principal, runId: string): Promise<Versioned<Run>> {
    const run = await readFor(principal.owner_uid, this.ports.runs.find(runId));
    if (run === undefined || visibilityOf(principal, run.value) === undefined) throw runNotFound(runId);
    return run;
  }

  /** Dispatches the runs that are due, because their dispatch was lost or their instance crashed. */
  private async dispatchLost(turn: SweepContext): Promise<SweepReport> {
    let dispatched = 0;
    const due = (after: SweepContext['from']) => this.ports.runs.due(turn.now, DUE_BATCH, after);
    const end = await sweepPages(turn, due, async ({ id }) => {
      await this.dispatch(id);
      dispatched++;
    });
    return { ...end, counts: { dispatched } };
  }

  /** Continues a run after one of its tasks was closed. If the run has already ended, cancels a task still open. */
  async taskChanged(taskId: string): Promise<void> {
    const { runs, tasks, store, clock, randomness, dispatch } = this.ports;
    const runId = runOfTask(taskId);
    if (runId === undefined) return;
    // If the task is unreadable, its repair triggers this function again.
    const task = (await skipUnreadable(tasks.find(taskId)))?.value;
    if (task === undefined) return;
    // If an instance executes other steps of the run, it stops. Otherwise, the next delivery ends the run.
    const isExecuted = (run: Run): boolean => isLeased(run, clock.now());
    if (task.status === 'cancelled') await cancelOpenRun(this.ports, runId, cancelReason(task), isExecuted);
    if (isClosed(task.status)) return dispatch.dispatch(runId);
    return retryOnConflict(randomness, async () => {
      const run = (await runs.find(runId))?.value;
      const changes = run === undefined ? [] : await taskCancellations(tasks, run, clock.now());
      if (changes.length > 0) await store.commit(changes);
    });
  }

  async budgetChanged(key: string): Promise<void> {
    for (let after: string | undefined, more = true; more; ) {
      const ids = await this.ports.runs.waitingFor(key, DUE_BATCH, after);
      await Promise.all(ids.map((id) => this.dispatch(id)));
      after = ids.at(-1);
      more = ids.length === DUE_BATCH;
    }
  }

  /** Dispatches a run. If the dispatch fails, the sweep dispatches the run later. */
  async dispatch(runId: string): Promise<void> {
    try {
      await this.ports.dispatch.dispatch(runId);
    } catch (error) {
      this.ports.log.error('run_not_dispatched', { runId, error });
    }
  }
}
