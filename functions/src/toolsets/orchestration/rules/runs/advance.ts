/** Takes a run forward, stage by stage, in the hands of one instance, and executes its steps wherever their agents are. */
import type { Change } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { byteLength } from '../../../../kernel/json.ts';
import type { TaskCreation } from '../../../coordination/index.ts';
import { measuresOf, NETWORK } from '../agents/profile.ts';
import { Budget } from '../calls/budget.ts';
import { executeOnNetwork, taskCancellations } from '../network.ts';
import type { OrchestrationPorts } from '../ports.ts';
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
import { HostedStep, type StepTask } from './hostedStep.ts';
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
  type StepWork,
  spentOn,
  stepId,
  waiting,
  withRecord,
} from './run.ts';

/** What the output of a step may have, in bytes of JSON: a step is one document. */
const MAX_OUTPUT_BYTES = 800_000;

/** One run in the hands of one instance. */
export class Advance {
  private readonly ports: OrchestrationPorts;
  private readonly taskCreation: TaskCreation;
  private readonly runId: string;
  private readonly lease: RunLease;
  private readonly order: RunOrder;
  private readonly records: Map<string, StepRecord>;
  private budget: Budget | undefined;

  /** @param before what has been recorded before */
  constructor(
    ports: OrchestrationPorts,
    taskCreation: TaskCreation,
    runId: string,
    lease: RunLease,
    order: RunOrder,
    before: readonly StepRecord[],
  ) {
    this.ports = ports;
    this.taskCreation = taskCreation;
    this.runId = runId;
    this.lease = lease;
    this.order = order;
    this.records = new Map(before.map((record) => [record.id, record]));
  }

  /** Executes the steps that come next, together, or ends the run. */
  async step(): Promise<'more' | 'over'> {
    const { lease, order } = this;
    const progress = progressOf(order.workflow, order, outcomesOf(this.records.values()));
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
    if (next.kind === 'finished') {
      const rounds = [...this.records.values()].filter(({ name }) => name === next.result);
      const last = rounds.sort((left, right) => left.iteration - right.iteration).at(-1);
      return { status: 'succeeded', ...(last && { resultStep: last.id }) };
    }
    if (next.kind === 'failed') {
      const failure = this.records.get(stepId(next.at))?.failure;
      const message = `Step "${next.at.name}": ${failure?.message ?? next.error}`;
      return { status: 'failed', failure: { reason: failure?.reason ?? next.reason, message } };
    }
    if (this.ports.clock.now() < run.deadline) return undefined;
    const message = `The run had until ${run.deadline.toISOString()}.`;
    return { status: 'failed', failure: { reason: 'DEADLINE', message } };
  }

  private async end(ending: Ending, { next, skipped, warnings }: Progress): Promise<void> {
    const records = skipped.map((round, index) => this.unexecuted(round, 'skipped', index));
    // A step that failed before it could be executed: it has no prompt, or nobody can tell whether it is wanted.
    if (next.kind === 'failed' && !this.records.has(stepId(next.at))) {
      const failure = { reason: next.reason, message: next.error };
      records.push({ ...this.unexecuted(next.at, 'failed', skipped.length), failure });
    }
    await this.lease.change(
      (run, now) => ended({ ...run, warnings: [...new Set([...run.warnings, ...warnings])] }, ending, now),
      async (run, now) => [
        ...records.map((step): Change => ({ kind: 'recordStep', runId: this.runId, step })),
        ...(await taskCancellations(this.ports.tasks, run, now)),
      ],
    );
  }

  private unexecuted(round: StepRound, status: 'skipped' | 'failed', index: number): StepRecord {
    const now = this.ports.clock.now();
    const role = allSteps(this.order.workflow).find(({ name }) => name === round.name)?.role ?? 'execute';
    return { ...begun(round, role, this.records.size + index + 1, now), status, settledAt: now };
  }

  /** Executes steps together, and records how each of them ends. */
  private async execute(due: readonly DueStep[], run: Run): Promise<readonly StepRecord[]> {
    const { lease, runId, ports } = this;
    const tasks = await Promise.all(
      due.map(async (step, index) => ({
        due: step,
        begun:
          this.records.get(stepId(step)) ??
          begun(step, step.step.role, this.records.size + index + 1, ports.clock.now()),
        // The first to have a run finds nothing in its journal.
        journal: new StepJournal(
          ports,
          { runId, step: stepId(step), repeatable: step.step.repeatable, requireLease: lease.require },
          run.epoch === 1 ? [] : await ports.runs.journal(runId, stepId(step)),
        ),
      })),
    );
    this.budget ??= this.openBudget(tasks.map(({ journal }) => spentOn(journal.booked)));
    const shared = { run, lease, budget: this.budget, abreast: due.length, inTurn: !this.order.parallel };
    const works = tasks.map(async (task): Promise<StepRecord> => {
      const { record, warnings } = await this.executeStep({ ...task, ...shared });
      const measures = record.status === 'waiting' ? [] : measuresOf(record.attempts);
      await lease.change(
        (current) => withRecord(current, record, [...warnings, ...repetitionWarnings(task)]),
        () => [
          { kind: 'recordStep', runId, step: record },
          ...measures.map((measure): Change => ({ kind: 'measureAgent', measure })),
        ],
      );
      return record;
    });
    const all = Promise.all(works);
    all.catch((why) => lease.giveUp(why));
    await Promise.allSettled(works);
    const records = await all;
    for (const record of records) this.records.set(record.id, record);
    return records;
  }

  /** It never rejects for what is the step's own fault: that is its record. */
  private async executeStep(task: StepTask): Promise<StepWork> {
    try {
      const isForNetwork = agentsOf(task.due.step)[0] === NETWORK;
      const work = await (isForNetwork
        ? executeOnNetwork(task, this.ports, this.taskCreation)
        : new HostedStep(task, this.ports).execute());
      const { output, results, ...rest } = work.record;
      if (byteLength([output, results]) <= MAX_OUTPUT_BYTES) return work;
      const message = `Its output has more than ${MAX_OUTPUT_BYTES} bytes.`;
      const failure = { reason: 'OUTPUT_TOO_LARGE', message };
      return { ...work, record: { ...rest, status: 'failed', failure } };
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      // A step that had begun to wait may have brought something before.
      const { output: _, results: __, ...rest }: Partial<StepRecord> & StepTask['begun'] = task.begun;
      const attempts = task.journal.booked;
      const failure = { reason: error.details.reason ?? error.code, message: error.message };
      const settledAt = this.ports.clock.now();
      const record = { ...rest, attempts, spent: spentOn(attempts), settledAt, failure };
      return { record: { ...record, status: 'failed' }, warnings: [] };
    }
  }

  private openBudget(booked: readonly Run['spent'][]): Budget {
    const before = [...this.records.values()].map(({ spent }) => spent);
    const { costUsd, ...usage } = [...before, ...booked].reduce(addSpent, NOTHING_SPENT);
    return new Budget(this.order.budget, { usage, costUsd });
  }
}

/** What the workflow goes on from. */
function outcomesOf(records: Iterable<StepRecord>): ReadonlyMap<string, StepOutcome> {
  const outcomes = new Map<string, StepOutcome>();
  for (const record of records) {
    const { status, output = '', results, failure } = record;
    if (status === 'succeeded') {
      const valid = results?.flatMap(({ agent, output: said }) =>
        said === undefined ? [] : { agent, output: said },
      );
      outcomes.set(outcomeKey(record), { status: 'done', output, ...(valid && { results: valid }) });
    }
    if (status === 'failed')
      outcomes.set(outcomeKey(record), { status, error: failure?.message ?? 'It failed.' });
  }
  return outcomes;
}

/** What is said of calls that were made again: instances died in them, or their input has changed. */
function repetitionWarnings({ due: { name }, journal }: Pick<StepTask, 'due' | 'journal'>): string[] {
  return [
    ...journal.interrupted.map(
      ({ agent }) =>
        `Step "${name}": a call of ${agent} was made again, since the instance that made it first ended before its answer. The first may have been billed.`,
    ),
    ...journal.outdated.map(
      ({ agent }) =>
        `Step "${name}": a call of ${agent} was made again, since it had been made with another input. Both are booked.`,
    ),
  ];
}
