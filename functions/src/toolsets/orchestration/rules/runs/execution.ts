/** Executes the runs that the queue delivers to this instance. Source: docs/decisions/0021-runs-and-workflows.md. */
import { z } from 'zod';
import { BudgetExhaustedError, type BudgetRefusal, budgetKey, budgetKeysOf } from '../../../../graph/rules/budget.ts';
import { nodeKey } from '../../../../graph/rules/graphNode.ts';
import { isContention } from '../../../../kernel/concurrency.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { byteLength } from '../../../../kernel/json.ts';
import { Service, skipUnreadable } from '../../../../kernel/ports.ts';
import { withTraces } from '../../../../kernel/trace.ts';
import { NETWORK } from '../agents/profile.ts';
import { type Outcome, recordedOutcomesOf } from '../agents/scoring.ts';
import { type Attempt, measuresOf } from '../calls/attempt.ts';
import { RunBudget } from '../calls/budget.ts';
import { isProviderRefusal } from '../calls/calling.ts';
import { StepJournal } from '../calls/journal.ts';
import type { ExecutionPorts, OrchestrationChange } from '../ports.ts';
import { HostedStep, type StepTask } from '../steps/hostedStep.ts';
import { executeOnNetwork } from '../steps/networkStep.ts';
import { addUsage, NO_USAGE, type StepRecord, type StepWork, startedStep, stepId, usageOf } from '../steps/step.ts';
import { agentsOf, allSteps } from '../workflows/definition.ts';
import { type DueStep, type Next, outcomeKey, type Progress, Replay, type StepRound } from '../workflows/progress.ts';
import type { StepOutcome } from '../workflows/scope.ts';
import { recordedCostOf, taskCancellations } from './cancelling.ts';
import { acquireRun, LeaseLostError, type RunLease } from './lease.ts';
import { outcomesOfRun } from './outcomes.ts';
import { ownerEnding } from './owner.ts';
import {
  endedRun,
  MAX_DELIVERIES,
  pausedForBudget,
  type Run,
  type RunEnding,
  type RunOrder,
  releasedRun,
  waitingRun,
  withRecord,
} from './run.ts';

/** Time after which an instance stops executing a run and queues it again for any instance. */
const TURN_MS = 10 * 60_000;
const LOGGED = 'The request did not cause this. The log event run_broke_off with this run id contains the error.';
const message = z.object({ runId: z.string().min(1).max(100) });

export class RunExecution extends Service<ExecutionPorts> {
  /**
   * @param data content of a queue task, which may arrive twice, late, or at two instances at the same time
   * @returns `busy` if another instance is executing the run, so that the queue must deliver it again later
   */
  async deliver(data: unknown): Promise<'done' | 'busy'> {
    const { log } = this.ports;
    const { success, data: task } = message.safeParse(data);
    if (!success) {
      log.error('run_task_unreadable', { data });
      return 'done';
    }
    const { runId } = task;
    // If the run is unreadable, the sweep dispatches it after a repair.
    const lease = await skipUnreadable(acquireRun(this.ports, runId));
    if (lease === 'busy') return 'busy';
    if (lease === 'over' || lease === undefined) return 'done';
    const { deliveries } = lease.run;
    try {
      if (deliveries > MAX_DELIVERIES) await this.release(lease);
      else await withTraces({ client: lease.run.traceparent }, () => this.advance(runId, lease));
    } catch (error) {
      await lease.recordAnswers();
      if (error instanceof LeaseLostError) {
        log.info('run_lost', { runId });
        return 'done';
      }
      log.error('run_broke_off', { runId, deliveries, error });
      lease.abandon(error);
      await this.release(lease, error);
      throw error;
    } finally {
      lease.close();
    }
    return 'done';
  }

  private async advance(runId: string, lease: RunLease): Promise<void> {
    const { runs, clock, dispatch } = this.ports;
    // Only an earlier execution can have recorded steps: those that had ended, and those that were waiting.
    const before = lease.run.epoch > 1 ? await runs.steps(runId) : [];
    const run = new RunExecutor({ ...this.ports, lease, order: await lease.order });
    for (const record of before) run.note(record);
    const began = clock.now().getTime();
    while ((await run.step()) === 'more') {
      if (clock.now().getTime() - began < TURN_MS) continue;
      await lease.change(releasedRun);
      // If this dispatch fails, the sweep dispatches the run again.
      return dispatch.dispatch(runId);
    }
  }

  /**
   * Stores the run after an interrupted execution: released for the next attempt, or failed after the last attempt.
   * @param why the error; undefined if the instances stopped without reporting an error
   */
  private async release(lease: RunLease, why?: unknown): Promise<void> {
    const { deliveries, current } = lease.run;
    const where = current.length === 0 ? '' : ` at ${current.join(', ')}`;
    const text = why instanceof MusterError ? why.message : LOGGED;
    const message = `The run was started ${MAX_DELIVERIES} times${where} and interrupted each time before a step was done. ${text}`;
    const ending = { status: 'failed', failure: { reason: 'EXECUTION_FAILED', message } } as const;
    const booked = deliveries < MAX_DELIVERIES ? {} : await recordedCostOf(this.ports, lease.run);
    await lease.release(
      (run, now) =>
        run.deliveries < MAX_DELIVERIES ? releasedRun(run, now) : endedRun({ ...run, ...booked }, ending, now),
      (run, now) => taskCancellations(this.ports.tasks, run, now),
    );
  }
}

/** Maximum size of a step's output as JSON in bytes, because one document contains the step. */
const MAX_OUTPUT_BYTES = 800_000;

class RunExecutor extends Service<ExecutionPorts & { readonly lease: RunLease; readonly order: RunOrder }> {
  private readonly lease = this.ports.lease;
  private readonly order = this.ports.order;
  private readonly records = new Map<string, StepRecord>();
  private readonly outcomes = new Map<string, StepOutcome>();
  private readonly replay = new Replay(this.order.workflow, this.order, this.outcomes);
  private budget: RunBudget | undefined;
  private readonly refusedProviders = new Set<string>();

  /** Executes the steps of the next stage concurrently, or ends the run if no step is left. */
  async step(): Promise<'more' | 'over'> {
    const { lease } = this;
    const progress = this.replay.progress();
    const { next } = progress;
    const due = next.kind === 'execute' ? next.steps : [];
    const isSole =
      due.length < 2 && due.every(({ step }) => agentsOf(step).length === 1 && agentsOf(step)[0] !== NETWORK);
    const begun = (current: Run): Run => ({ ...current, current: due.map(({ name }) => name) });
    // The start of a single call, or the end of the run, is committed together with the previous step.
    if (isSole) lease.defer([], begun);
    else await lease.change(begun);
    const ending = await this.endingOf(next);
    if (ending !== undefined) {
      await this.end(ending, progress);
      return 'over';
    }
    const { records, refused } = await this.execute(due, isSole);
    const came = new Set(records.map(({ status }) => status));
    // If one step fails, the run ends, even if other steps of the stage are waiting.
    if (lease.isCancelled || came.has('failed')) return 'more';
    if (refused !== undefined) return this.pauseForBudget(refused.refusal);
    if (!came.has('waiting')) return 'more';
    const left = await lease.change((current) => (current.cancel_requested ? current : waitingRun(current)));
    return left.cancel_requested ? 'more' : 'over';
  }

  private async endingOf(next: Next): Promise<RunEnding | undefined> {
    const { isCancelled, run } = this.lease;
    if (isCancelled) return { status: 'cancelled' };
    if (next.kind === 'finished') {
      const rounds = [...this.records.values()].filter(({ name }) => name === next.result);
      const last = rounds.sort((left, right) => left.iteration - right.iteration).at(-1);
      return { status: 'succeeded', ...(last && { result_step: last.id }) };
    }
    if (next.kind === 'failed') {
      const failure = this.records.get(stepId(next.at))?.failure;
      const message = `Step "${next.at.name}": ${failure?.message ?? next.error}`;
      return { status: 'failed', failure: { reason: failure?.reason ?? next.reason, message } };
    }
    if (this.ports.clock.now() >= run.deadline) {
      const message = `The run reached its deadline, ${run.deadline.toISOString()}.`;
      return { status: 'failed', failure: { reason: 'DEADLINE', message } };
    }
    return ownerEnding(this.ports, run);
  }

  private async end(ending: RunEnding, { next, skipped, warnings }: Progress): Promise<void> {
    const { lease } = this;
    const { id: runId, epoch } = lease.run;
    const settledAt = this.ports.clock.now();
    const unexecuted = (round: StepRound, index: number) => ({
      ...this.startedSteps(round, index),
      settled_at: settledAt,
    });
    const records: StepRecord[] = skipped.map((round, index) => ({ ...unexecuted(round, index), status: 'skipped' }));
    // A step fails before its execution if its condition or its prompt cannot be evaluated.
    if (next.kind === 'failed' && !this.records.has(stepId(next.at))) {
      const failure = { reason: next.reason, message: next.error };
      records.push({ ...unexecuted(next.at, skipped.length), status: 'failed', failure });
    }
    const settled = [...this.records.values(), ...records];
    // The journal also contains the cost of steps that a crash interrupted and that were not executed again.
    const booked = epoch > 1 ? await recordedCostOf(this.ports, await lease.change((run) => run)) : {};
    await lease.change(
      (run, now) => {
        const ended = { ...run, ...booked, warnings: [...new Set([...run.warnings, ...warnings])] };
        return endedRun(ended, run.cancel_requested ? { status: 'cancelled' } : ending, now);
      },
      async (run, now) => [
        ...records.map((step): OrchestrationChange => ({ kind: 'recordStep', runId, step })),
        ...(await taskCancellations(this.ports.tasks, run, now)),
        ...(await this.recordedOutcomes(run.workspace, outcomesOfRun(this.order.workflow, settled, run.status))),
      ],
    );
  }

  /** Returns the changes that count the agents' outcomes. Only the run's last commit has them, so they count once. */
  private async recordedOutcomes(
    workspace: string,
    outcomes: readonly Outcome[],
  ): Promise<readonly OrchestrationChange[]> {
    if (outcomes.length === 0) return [];
    const bookings = recordedOutcomesOf(await this.ports.workRecords.find(workspace), outcomes);
    return [{ kind: 'recordOutcomes', workspace, bookings }];
  }

  /** @param index position of the step among the steps that start together */
  private startedSteps(round: StepRound, index: number) {
    const role = allSteps(this.order.workflow).find(({ name }) => name === round.name)?.role ?? 'execute';
    return startedStep(round, role, this.records.size + index + 1, this.ports.clock.now());
  }

  /** Executes steps concurrently and records their outcomes. A step that waits for a budget is not recorded. */
  private async execute(due: readonly DueStep[], isSole: boolean) {
    const { lease, ports } = this;
    const { run } = lease;
    const runId = run.id;
    const budgetKeys = budgetKeysOf(nodeKey({ kind: 'run', id: runId }), run);
    // An earlier execution may have made calls for the first stage of this execution, but not for later stages.
    const mayHaveCalls = run.epoch > 1 && this.budget === undefined;
    const tasks = await Promise.all(
      due.map(async (step, index) => {
        const id = stepId(step);
        const { repeatable } = step.step;
        const before = mayHaveCalls ? await ports.runs.journal(runId, id) : [];
        const scope = { runId, step: id, before, budgetKeys, repeatable, lease, isSole };
        const journal = new StepJournal({ ...ports, scope });
        return { due: step, startedStep: this.records.get(id) ?? this.startedSteps(step, index), journal };
      }),
    );
    this.budget ??= this.openBudget(tasks.map(({ journal }) => usageOf(journal.recorded)));
    const { parallel, forbidden } = this.order;
    const { budget, refusedProviders } = this;
    const shared = { run, lease, budget, refusedProviders, concurrentSteps: due.length, forbidden };
    const works = tasks.map(async (task): Promise<StepRecord | BudgetExhaustedError> => {
      const work = await this.executeStep({ ...task, ...shared, sequentially: !parallel });
      if (work instanceof BudgetExhaustedError) return work;
      const { record, warnings } = work;
      const noted = { record, warnings: [...warnings, ...repetitionWarnings(task)] };
      const measures = measuresOf(record.attempts).map((measure) => ({ kind: 'measureAgent', measure }) as const);
      lease.defer([{ kind: 'recordStep', runId, step: record }, ...measures], (run) => withRecord(run, noted));
      // While other steps are in progress, the next commit of the run may be minutes away.
      if (due.length > 1) await lease.change((current) => current);
      return record;
    });
    const all = Promise.all(works);
    all.catch((why) => lease.abandon(why));
    await Promise.allSettled(works);
    const came = await all;
    const records = came.flatMap((one) => (one instanceof BudgetExhaustedError ? [] : one));
    for (const record of records) this.note(record);
    return { records, refused: came.find((one) => one instanceof BudgetExhaustedError) };
  }

  /** Executes a step. If the step fails, the promise resolves with a record that contains the error. */
  private async executeStep(task: StepTask): Promise<StepWork | BudgetExhaustedError> {
    try {
      const work = await (agentsOf(task.due.step)[0] === NETWORK
        ? executeOnNetwork(task, this.ports)
        : new HostedStep({ ...this.ports, task }).execute());
      const { output, results, ...rest } = work.record;
      if (byteLength([output, results]) <= MAX_OUTPUT_BYTES) return work;
      const message = `The output exceeds ${MAX_OUTPUT_BYTES} bytes.`;
      const failure = { reason: 'OUTPUT_TOO_LARGE', message };
      return { ...work, record: { ...rest, status: 'failed', failure } };
    } catch (error) {
      if (error instanceof BudgetExhaustedError) return error;
      if (!(error instanceof MusterError) || isContention(error)) throw error;
      // The record of a waiting step may already contain an output, which is removed here.
      const { output: _, results: __, ...rest } = task.startedStep;
      const attempts = task.journal.recorded;
      const failure = { reason: error.details.reason ?? error.code, message: error.message };
      const ending = { spent: usageOf(attempts), settled_at: this.ports.clock.now(), failure };
      return { record: { ...rest, attempts, ...ending, status: 'failed' }, warnings: [] };
    }
  }

  /** Pauses the run. If the budget is exhausted, asks the person who set it to raise it. Ended calls are kept. */
  private async pauseForBudget(refusal: BudgetRefusal): Promise<'more' | 'over'> {
    const { budgets, dispatch, askToRaise } = this.ports;
    const { id, workspace } = this.lease.run;
    const { budget } = refusal.limitedBy;
    if (refusal.isExhausted) await askToRaise(refusal, workspace);
    const left = await this.lease.change((run, now) =>
      run.cancel_requested ? run : pausedForBudget(run, refusal, now),
    );
    if (left.cancel_requested) return 'more';
    // If the budget was raised before the pause was stored, that change did not resume this run, so dispatch it now.
    if ((await budgets.find(budgetKey(budget)))?.value.round !== budget.round) await dispatch.dispatch(id);
    return 'over';
  }

  /** Takes a step that has ended or waits into account. */
  note(record: StepRecord): void {
    this.records.set(record.id, record);
    for (const { end, provider } of record.attempts)
      if (provider !== undefined && isProviderRefusal(end)) this.refusedProviders.add(provider);
    const outcome = outcomeOf(record);
    if (outcome !== undefined) this.outcomes.set(outcomeKey(record), outcome);
  }

  private openBudget(booked: readonly Run['spent'][]): RunBudget {
    const before = [...this.records.values()].map(({ spent }) => spent);
    const { cost_usd, ...usage } = [...before, ...booked].reduce(addUsage, NO_USAGE);
    return new RunBudget(this.order.budget, { usage, cost_usd });
  }
}

function outcomeOf({ status, output = '', results, failure }: StepRecord): StepOutcome | undefined {
  if (status === 'failed') return { status, error: failure?.message ?? 'The step failed.' };
  if (status !== 'succeeded') return undefined;
  const valid = results?.flatMap(({ agent, output: text }) => (text === undefined ? [] : { agent, output: text }));
  return { status: 'done', output, ...(valid && { results: valid }) };
}

/** Returns warnings about calls that were made twice, because an instance crashed or because their input changed. */
function repetitionWarnings({ due, journal }: Pick<StepTask, 'due' | 'journal'>): string[] {
  const again = (why: string) => (attempt: Attempt) =>
    `Step "${due.name}": a call to ${attempt.agent} was repeated, because ${why}`;
  return [
    ...journal.interrupted.map(
      again('the instance that made it ended before the answer arrived. The first call may have been billed.'),
    ),
    ...journal.outdated.map(again('the input of the call has changed. Both calls are charged.')),
  ];
}
