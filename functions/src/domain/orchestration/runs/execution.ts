/** Executes a run, step after step, for as long as this instance has it. Source: design, section 5. */
import { z } from 'zod';
import type { Change } from '../../store.ts';
import type { Attempt } from '../calls/attempt.ts';
import { Budget } from '../calls/budget.ts';
import { allSteps, type Workflow } from '../workflows/definition.ts';
import {
  type DueStep,
  type Next,
  outcomeKey,
  type Progress,
  progressOf,
  type StepRound,
} from '../workflows/progress.ts';
import type { StepOutcome, StepResult } from '../workflows/scope.ts';
import { type JournalDependencies, StepJournal } from './journal.ts';
import { type LeaseDependencies, LeaseLostError, type RunLease, takeRun } from './lease.ts';
import type { RunDispatch } from './ports.ts';
import {
  type AgentResult,
  addSpent,
  begun,
  type Ending,
  ended,
  handedOn,
  MAX_WARNINGS,
  NOTHING_SPENT,
  type Run,
  type RunOrder,
  type StepRecord,
  spentOn,
  stepId,
  waiting,
} from './run.ts';
import type { StepExecution } from './stepExecution.ts';

/** How long one delivery goes on before it lets another one continue. */
const TURN_MILLISECONDS = 10 * 60_000;

export interface RunExecutionDependencies extends LeaseDependencies, JournalDependencies {
  readonly dispatch: RunDispatch;
  readonly steps: StepExecution;
}

/** `busy`: another instance has it, so it is to be delivered again later. */
export type Delivery = 'done' | 'busy';

const message = z.object({ runId: z.string().min(1).max(100) });

export class RunExecution {
  private readonly dependencies: RunExecutionDependencies;

  constructor(dependencies: RunExecutionDependencies) {
    this.dependencies = dependencies;
  }

  /** @param data a task of the queue; safe to deliver twice, late, and to two instances at once */
  async deliver(data: unknown): Promise<Delivery> {
    const { log } = this.dependencies;
    const { success, data: task } = message.safeParse(data);
    if (!success) {
      log.error('run_task_unreadable', { data });
      return 'done';
    }
    const taken = await takeRun(this.dependencies, task.runId);
    if (taken === 'busy') return 'busy';
    if (taken === 'over') return 'done';
    try {
      await this.advance(task.runId, taken.lease);
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      log.info('run_lost', { runId: task.runId });
    } finally {
      taken.lease.close();
    }
    return 'done';
  }

  private async advance(runId: string, lease: RunLease): Promise<void> {
    const { runs, clock, dispatch } = this.dependencies;
    const [order, before] = await Promise.all([runs.order(runId), runs.steps(runId)]);
    const execution = new Execution(this.dependencies, { runId, lease, order, records: before });
    const began = clock.now().getTime();
    for (;;) {
      if ((await execution.step()) === 'over') return;
      if (clock.now().getTime() - began < TURN_MILLISECONDS) continue;
      await lease.change(handedOn);
      // If it is lost, the sweep makes up for it.
      return dispatch.dispatch(runId);
    }
  }
}

interface Subject {
  readonly runId: string;
  readonly lease: RunLease;
  readonly order: RunOrder;
  /** What has been recorded before. */
  readonly records: readonly StepRecord[];
}

/** One run in the hands of one instance. */
class Execution {
  private readonly dependencies: RunExecutionDependencies;
  private readonly subject: Subject;
  private readonly workflow: Workflow;
  private readonly records: Map<string, StepRecord>;
  private budget: Budget | undefined;

  constructor(dependencies: RunExecutionDependencies, subject: Subject) {
    this.dependencies = dependencies;
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
    if (lease.isCancelled || !records.some(({ status }) => status === 'waiting')) return 'more';
    await lease.change(waiting);
    return 'over';
  }

  private endingOf(run: Run, next: Next): Ending | undefined {
    if (run.cancelRequested) return { status: 'cancelled' };
    if (next.kind === 'finished') return this.finished(next.result);
    if (next.kind === 'failed') return this.failed(next);
    if (this.dependencies.clock.now() < run.deadline) return undefined;
    const message = `The run had until ${run.deadline.toISOString()}.`;
    return { status: 'failed', failure: { reason: 'DEADLINE', message } };
  }

  private finished(result: string | undefined): Ending {
    const rounds = [...this.records.values()].filter(({ name }) => name === result);
    const last = rounds.sort((left, right) => left.iteration - right.iteration).at(-1);
    return { status: 'succeeded', ...(last && { resultStep: last.id }) };
  }

  private failed({ at, error }: Extract<Next, { kind: 'failed' }>): Ending {
    const failure = this.records.get(stepId(at))?.failure;
    const message = `Step "${at.name}": ${failure?.message ?? error}`;
    return { status: 'failed', failure: { reason: failure?.reason ?? 'STEP_FAILED', message } };
  }

  private async end(ending: Ending, { skipped, warnings }: Progress): Promise<void> {
    const { lease, runId } = this.subject;
    const records = skipped.map((round, index) => this.passedOver(round, index));
    await lease.change(
      (run, now) => ended({ ...run, warnings: [...new Set([...run.warnings, ...warnings])] }, ending, now),
      () => records.map((step): Change => ({ kind: 'recordStep', runId, step })),
    );
  }

  private passedOver({ name, iteration }: StepRound, index: number): StepRecord {
    const startedAt = this.dependencies.clock.now();
    const role = allSteps(this.workflow).find((step) => step.name === name)?.role ?? 'execute';
    return {
      ...begun({ name, iteration }, role, this.records.size + index + 1, startedAt),
      status: 'skipped',
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
      const before = this.records.get(stepId(step));
      const begin = before ?? begun(step, step.step.role, first + index, this.dependencies.clock.now());
      const journal = journals[index];
      if (journal === undefined) throw new Error('A step has no journal.');
      const { record, warnings } = await this.dependencies.steps.execute({
        run,
        due: step,
        begun: begin,
        ...(before && { before }),
        budget,
        journal,
        stop: lease.stop,
        abreast: due.length,
      });
      await lease.change(
        (current) => withRecord(current, record, [...warnings, ...warningsOf(step, journal)]),
        () => [{ kind: 'recordStep', runId, step: record }],
      );
      return record;
    });
    const records = await allSettled(works);
    for (const record of records) this.records.set(record.id, record);
    return records;
  }

  private async journalOf(due: DueStep, run: Run): Promise<StepJournal> {
    const { runId, lease } = this.subject;
    const step = stepId(due);
    // The first to have a run finds nothing in its journal.
    const before = run.epoch === 1 ? [] : await this.dependencies.runs.journal(runId, step);
    const scope = { runId, step, repeatable: due.step.repeatable, requireLease: lease.require };
    return new StepJournal(this.dependencies, scope, before);
  }

  private openBudget(booked: readonly Attempt[]): Budget {
    const spent = [...this.records.values()].map((record) => record.spent);
    const { inputTokens, outputTokens, costUsd } = [...spent, spentOn(booked)].reduce(addSpent, NOTHING_SPENT);
    return new Budget(this.subject.order.budget, { usage: { inputTokens, outputTokens }, costUsd });
  }
}

/** All results, after all works have ended; of several errors the first. */
async function allSettled<Result>(works: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

function outcomesOf(records: Iterable<StepRecord>): ReadonlyMap<string, StepOutcome> {
  const outcomes = new Map<string, StepOutcome>();
  for (const record of records) {
    const outcome = outcomeOf(record);
    if (outcome !== undefined) outcomes.set(outcomeKey(record), outcome);
  }
  return outcomes;
}

function outcomeOf({ status, output = '', results, failure }: StepRecord): StepOutcome | undefined {
  if (status === 'succeeded') return { status: 'done', output, ...(results && { results: results.flatMap(valid) }) };
  if (status === 'failed') return { status: 'failed', error: failure?.message ?? 'It failed.' };
  return undefined;
}

function valid({ agent, output }: AgentResult): StepResult | [] {
  return output === undefined ? [] : { agent, output };
}

function withRecord(run: Run, record: StepRecord, warnings: readonly string[]): Run {
  if (record.status === 'waiting') return run;
  return {
    ...run,
    stepsSettled: run.stepsSettled + 1,
    spent: addSpent(run.spent, record.spent),
    current: run.current.filter((name) => name !== record.name),
    warnings: [...new Set([...run.warnings, ...warnings])].slice(0, MAX_WARNINGS),
  };
}

function warningsOf({ name }: DueStep, { interrupted }: StepJournal): readonly string[] {
  return interrupted.map(
    ({ agent }) =>
      `Step "${name}": a call of ${agent} was made again, since the instance that made it first ended before its answer. The first may have been billed.`,
  );
}
