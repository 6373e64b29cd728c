/** Takes a run forward, stage by stage, in the hands of one instance. */
import type { Change } from '../../../../kernel/commit.ts';
import type { TaskCreation } from '../../../coordination/index.ts';
import type { Attempt } from '../calls/attempting.ts';
import { Budget } from '../calls/budget.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { allSteps, type Workflow } from '../workflows/definition.ts';
import { type DueStep, type Next, type Progress, progressOf, type StepRound } from '../workflows/progress.ts';
import { taskCancellations } from './cancellation.ts';
import { StepJournal } from './journal.ts';
import type { RunLease } from './lease.ts';
import {
  addSpent,
  begun,
  type Ending,
  ended,
  NOTHING_SPENT,
  type Run,
  type RunOrder,
  type StepRecord,
  type StepStatus,
  spentOn,
  stepId,
  waiting,
} from './run.ts';
import { executeStep, measurements, outcomesOf, repetitionWarnings, withRecord } from './stepExecution.ts';

interface Subject {
  readonly runId: string;
  readonly lease: RunLease;
  readonly order: RunOrder;
  /** What has been recorded before. */
  readonly records: readonly StepRecord[];
}

/** One run in the hands of one instance. */
export class Advance {
  private readonly ports: OrchestrationPorts;
  private readonly taskCreation: TaskCreation;
  private readonly subject: Subject;
  private readonly workflow: Workflow;
  private readonly records: Map<string, StepRecord>;
  private budget: Budget | undefined;

  constructor(ports: OrchestrationPorts, taskCreation: TaskCreation, subject: Subject) {
    this.ports = ports;
    this.taskCreation = taskCreation;
    this.subject = subject;
    this.workflow = subject.order.workflow;
    this.records = new Map(subject.records.map((record) => [record.id, record]));
  }

  /** Executes the steps that come next, together, or ends the run. */
  async step(): Promise<'more' | 'over'> {
    const { lease, order } = this.subject;
    const progress = progressOf(this.workflow, order, outcomesOf(this.records.values()));
    const { next } = progress;
    const due = next.kind === 'execute' ? next.steps : [];
    const run = await lease.change((current) => ({ ...current, current: due.map(({ name }) => name) }));
    const ending = this.endingOf(run, next);
    if (ending !== undefined) {
      await this.end(ending, progress);
      return 'over';
    }
    const records = await this.execute(due, run);
    const came = new Set(records.map(({ status }) => status));
    // What has failed ends the run, whatever its neighbours still wait for.
    if (lease.isCancelled || came.has('failed') || !came.has('waiting')) return 'more';
    const left = await lease.change((current) => (current.cancelRequested ? current : waiting(current)));
    return left.cancelRequested ? 'more' : 'over';
  }

  private endingOf(run: Run, next: Next): Ending | undefined {
    if (run.cancelRequested) return { status: 'cancelled' };
    if (next.kind === 'finished') return this.finished(next.result);
    if (next.kind === 'failed') return this.failed(next);
    if (this.ports.clock.now() < run.deadline) return undefined;
    const message = `The run had until ${run.deadline.toISOString()}.`;
    return { status: 'failed', failure: { reason: 'DEADLINE', message } };
  }

  private finished(result: string | undefined): Ending {
    const rounds = [...this.records.values()].filter(({ name }) => name === result);
    const last = rounds.sort((left, right) => left.iteration - right.iteration).at(-1);
    return { status: 'succeeded', ...(last && { resultStep: last.id }) };
  }

  private failed({ at, reason, error }: Extract<Next, { kind: 'failed' }>): Ending {
    const failure = this.records.get(stepId(at))?.failure;
    const message = `Step "${at.name}": ${failure?.message ?? error}`;
    return { status: 'failed', failure: { reason: failure?.reason ?? reason, message } };
  }

  private async end(ending: Ending, { next, skipped, warnings }: Progress): Promise<void> {
    const { lease, runId } = this.subject;
    const records = [
      ...skipped.map((round, index) => this.unexecuted(round, 'skipped', index)),
      ...this.failedBefore(next, skipped.length),
    ];
    await lease.change(
      (run, now) => ended({ ...run, warnings: [...new Set([...run.warnings, ...warnings])] }, ending, now),
      async (run, now) => [
        ...records.map((step): Change => ({ kind: 'recordStep', runId, step })),
        ...(await taskCancellations(this.ports.tasks, run, now)),
      ],
    );
  }

  /** A step that failed before it could be executed: it has no prompt, or nobody can tell whether it is wanted. */
  private failedBefore(next: Next, index: number): readonly StepRecord[] {
    if (next.kind !== 'failed' || this.records.has(stepId(next.at))) return [];
    const failure = { reason: next.reason, message: next.error };
    return [{ ...this.unexecuted(next.at, 'failed', index), failure }];
  }

  private unexecuted({ name, iteration }: StepRound, status: StepStatus, index: number): StepRecord {
    const startedAt = this.ports.clock.now();
    const role = allSteps(this.workflow).find((step) => step.name === name)?.role ?? 'execute';
    return {
      ...begun({ name, iteration }, role, this.records.size + index + 1, startedAt),
      status,
      settledAt: startedAt,
    };
  }

  /** Executes steps together, and records how each of them ends. */
  private async execute(due: readonly DueStep[], run: Run): Promise<readonly StepRecord[]> {
    const { lease, runId } = this.subject;
    const journals = await Promise.all(due.map((step) => this.journalOf(step, run)));
    this.budget ??= this.openBudget(journals.flatMap((journal) => journal.booked));
    const { budget } = this;
    const first = this.records.size + 1;
    const works = due.map(async (step, index): Promise<StepRecord> => {
      const begin =
        this.records.get(stepId(step)) ?? begun(step, step.step.role, first + index, this.ports.clock.now());
      const journal = journals[index];
      if (journal === undefined) throw new Error('A step has no journal.');
      const { record, warnings } = await executeStep(
        {
          run,
          due: step,
          begun: begin,
          budget,
          journal,
          stop: lease.stop,
          giveUp: (why) => lease.giveUp(why),
          abreast: due.length,
          inTurn: !this.subject.order.parallel,
        },
        this.ports,
        this.taskCreation,
      );
      await lease.change(
        (current) => withRecord(current, record, [...warnings, ...repetitionWarnings(step, journal)]),
        () => [{ kind: 'recordStep', runId, step: record }, ...measurements(record)],
      );
      return record;
    });
    const records = await allSettled(works, (why) => lease.giveUp(why));
    for (const record of records) this.records.set(record.id, record);
    return records;
  }

  private async journalOf(due: DueStep, run: Run): Promise<StepJournal> {
    const { runId, lease } = this.subject;
    const step = stepId(due);
    // The first to have a run finds nothing in its journal.
    const before = run.epoch === 1 ? [] : await this.ports.runs.journal(runId, step);
    const scope = { runId, step, repeatable: due.step.repeatable, requireLease: lease.require };
    return new StepJournal(this.ports, scope, before);
  }

  private openBudget(booked: readonly Attempt[]): Budget {
    const spent = [...this.records.values()].map((record) => record.spent);
    const { inputTokens, outputTokens, costUsd } = [...spent, spentOn(booked)].reduce(
      addSpent,
      NOTHING_SPENT,
    );
    return new Budget(this.subject.order.budget, { usage: { inputTokens, outputTokens }, costUsd });
  }
}

/**
 * All results, after all works have ended.
 * @param failed is told of the first error as soon as there is one
 */
async function allSettled<Result>(
  works: readonly Promise<Result>[],
  failed: (why: unknown) => void,
): Promise<readonly Result[]> {
  const all = Promise.all(works);
  all.catch(failed);
  await Promise.allSettled(works);
  return all;
}
