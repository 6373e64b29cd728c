/** Executes a run on one instance, one stage at a time. The steps run on hosted models or live agents. */
import { BudgetExhaustedError, type BudgetRefusal, budgetKey, budgetKeysOf } from '../../../../graph/rules/budget.ts';
import { nodeKey } from '../../../../graph/rules/graphNode.ts';
import { isContention } from '../../../../kernel/concurrency.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { byteLength } from '../../../../kernel/json.ts';
import type { PortOf } from '../../../../kernel/ports.ts';
import type { TaskCreation } from '../../../coordination/index.ts';
import { NETWORK } from '../agents/profile.ts';
import { type Outcome, recordedOutcomesOf } from '../agents/scoring.ts';
import { type Attempt, measuresOf } from '../calls/attempt.ts';
import { RunBudget } from '../calls/budget.ts';
import { StepJournal } from '../calls/journal.ts';
import type { ExecutionPorts, OrchestrationChange } from '../ports.ts';
import { HostedStep, type StepTask } from '../steps/hostedStep.ts';
import { executeOnNetwork } from '../steps/networkStep.ts';
import { addUsage, NO_USAGE, type StepRecord, type StepWork, startedStep, stepId, usageOf } from '../steps/step.ts';
import { agentsOf, allSteps } from '../workflows/definition.ts';
import {
  type DueStep,
  type Next,
  outcomeKey,
  type Progress,
  progressOf,
  type StepRound,
} from '../workflows/progress.ts';
import type { StepOutcome } from '../workflows/scope.ts';
import { recordedCostOf, taskCancellations } from './cancelling.ts';
import type { RunLease } from './lease.ts';
import { outcomesOfRun } from './outcomes.ts';
import { ownerEnding } from './owner.ts';
import { endedRun, pausedForBudget, type Run, type RunEnding, type RunOrder, waitingRun, withRecord } from './run.ts';

/** Maximum size of a step's output as JSON in bytes, because one document contains the step. */
const MAX_OUTPUT_BYTES = 800_000;

export class RunExecutor {
  private readonly ports: ExecutionPorts;
  private readonly taskCreation: PortOf<TaskCreation>;
  private readonly lease: RunLease;
  private readonly order: RunOrder;
  private readonly records: Map<string, StepRecord>;
  private budget: RunBudget | undefined;

  /** @param recorded `before`: records of the steps that had ended or were waiting before this execution */
  constructor(
    ports: ExecutionPorts,
    taskCreation: PortOf<TaskCreation>,
    lease: RunLease,
    { order, before }: { readonly order: RunOrder; readonly before: readonly StepRecord[] },
  ) {
    this.ports = ports;
    this.taskCreation = taskCreation;
    this.lease = lease;
    this.order = order;
    this.records = new Map(before.map((record) => [record.id, record]));
  }

  /** Executes the steps of the next stage concurrently, or ends the run if no step is left. */
  async step(): Promise<'more' | 'over'> {
    const { lease, order } = this;
    const progress = progressOf(order.workflow, order, outcomesOf(this.records.values()));
    const { next } = progress;
    const due = next.kind === 'execute' ? next.steps : [];
    const run = await lease.change((current) => ({ ...current, current: due.map(({ name }) => name) }));
    const ending = await this.endingOf(run, next);
    if (ending !== undefined) {
      await this.end(ending, progress, run);
      return 'over';
    }
    const { records, refused } = await this.execute(due, run);
    const came = new Set(records.map(({ status }) => status));
    // If one step fails, the run ends, even if other steps of the stage are waiting.
    if (lease.isCancelled || came.has('failed')) return 'more';
    if (refused !== undefined) return pauseForBudget(this.ports, lease, run, refused.refusal);
    if (!came.has('waiting')) return 'more';
    const left = await lease.change((current) => (current.cancel_requested ? current : waitingRun(current)));
    return left.cancel_requested ? 'more' : 'over';
  }

  private async endingOf(run: Run, next: Next): Promise<RunEnding | undefined> {
    if (run.cancel_requested) return { status: 'cancelled' };
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

  private async end(ending: RunEnding, { next, skipped, warnings }: Progress, run: Run): Promise<void> {
    const { runId } = this.lease;
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
    const outcomes = outcomesOfRun(this.order.workflow, settled, ending.status);
    // The journal also contains the cost of steps that a crash interrupted and that were not executed again.
    const booked = run.epoch > 1 ? await recordedCostOf(this.ports, run) : {};
    await this.lease.change(
      (run, now) =>
        endedRun({ ...run, ...booked, warnings: [...new Set([...run.warnings, ...warnings])] }, ending, now),
      async (run, now) => [
        ...records.map((step): OrchestrationChange => ({ kind: 'recordStep', runId, step })),
        ...(await taskCancellations(this.ports.tasks, run, now)),
        ...(await this.recordedOutcomes(run.workspace, outcomes)),
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
  private async execute(due: readonly DueStep[], run: Run) {
    const { lease, ports } = this;
    const runId = run.id;
    const budgetKeys = budgetKeysOf(nodeKey({ kind: 'run', id: runId }), run);
    const tasks = await Promise.all(
      due.map(async (step, index) => {
        const id = stepId(step);
        const { repeatable } = step.step;
        // In the first execution of a run, its journal is empty and need not be read.
        const before = run.epoch === 1 ? [] : await ports.runs.journal(runId, id);
        const scope = { runId, step: id, budgetKeys, repeatable, requireLease: lease.require };
        const journal = new StepJournal(ports, scope, before);
        return { due: step, startedStep: this.records.get(id) ?? this.startedSteps(step, index), journal };
      }),
    );
    this.budget ??= this.openBudget(tasks.map(({ journal }) => usageOf(journal.recorded)));
    const { parallel, forbidden } = this.order;
    const shared = { run, lease, budget: this.budget, concurrentSteps: due.length, sequentially: !parallel, forbidden };
    const works = tasks.map(async (task): Promise<StepRecord | BudgetExhaustedError> => {
      const work = await this.executeStep({ ...task, ...shared });
      if (work instanceof BudgetExhaustedError) return work;
      const { record, warnings } = work;
      const measures = record.status === 'waiting' ? [] : measuresOf(record.attempts);
      await lease.change(
        (current) => withRecord(current, { record, warnings: [...warnings, ...repetitionWarnings(task)] }),
        () => [
          { kind: 'recordStep', runId, step: record },
          ...measures.map((measure): OrchestrationChange => ({ kind: 'measureAgent', measure })),
        ],
      );
      return record;
    });
    const all = Promise.all(works);
    all.catch((why) => lease.abandon(why));
    await Promise.allSettled(works);
    const came = await all;
    const records = came.flatMap((one) => (one instanceof BudgetExhaustedError ? [] : one));
    for (const record of records) this.records.set(record.id, record);
    return { records, refused: came.find((one) => one instanceof BudgetExhaustedError) };
  }

  /** Executes a step. If the step fails, the promise resolves with a record that contains the error. */
  private async executeStep(task: StepTask): Promise<StepWork | BudgetExhaustedError> {
    try {
      const work = await (agentsOf(task.due.step)[0] === NETWORK
        ? executeOnNetwork(task, this.ports, this.taskCreation)
        : new HostedStep(task, this.ports).execute());
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

  private openBudget(booked: readonly Run['spent'][]): RunBudget {
    const before = [...this.records.values()].map(({ spent }) => spent);
    const { cost_usd, ...usage } = [...before, ...booked].reduce(addUsage, NO_USAGE);
    return new RunBudget(this.order.budget, { usage, cost_usd });
  }
}

function outcomesOf(records: Iterable<StepRecord>): ReadonlyMap<string, StepOutcome> {
  const outcomes = new Map<string, StepOutcome>();
  for (const record of records) {
    const { status, output = '', results, failure } = record;
    const valid = results?.flatMap(({ agent, output: text }) => (text === undefined ? [] : { agent, output: text }));
    if (status === 'succeeded')
      outcomes.set(outcomeKey(record), { status: 'done', output, ...(valid && { results: valid }) });
    if (status === 'failed')
      outcomes.set(outcomeKey(record), { status, error: failure?.message ?? 'The step failed.' });
  }
  return outcomes;
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

// Handles a run whose next call exceeds a budget. Source: docs/decisions/0035-graph-and-budgets.md.

/** Pauses the run. If the budget is exhausted, asks the person who set it to raise it. Ended calls are kept. */
export async function pauseForBudget(
  { budgets, dispatch, askToRaise }: ExecutionPorts,
  lease: Pick<RunLease, 'change'>,
  { id, workspace }: Run,
  refusal: BudgetRefusal,
): Promise<'more' | 'over'> {
  const { budget } = refusal.limitedBy;
  if (refusal.isExhausted) await askToRaise(refusal, workspace);
  const left = await lease.change((run, now) => (run.cancel_requested ? run : pausedForBudget(run, refusal, now)));
  if (left.cancel_requested) return 'more';
  // If the budget was raised before the pause was stored, that change did not resume this run, so dispatch it now.
  if ((await budgets.find(budgetKey(budget)))?.value.round !== budget.round) await dispatch.dispatch(id);
  return 'over';
}
