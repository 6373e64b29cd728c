/** Executes one step, wherever its agents are. */
import type { Change } from '../../../../kernel/commit.ts';
import { MusterError } from '../../../../kernel/errors.ts';
import { byteLength } from '../../../../kernel/json.ts';
import type { TaskCreation } from '../../../coordination/index.ts';
import { measuresOf, NETWORK } from '../agents/profile.ts';
import { executeOnNetwork } from '../network.ts';
import type { OrchestrationPorts } from '../ports.ts';
import { agentsOf } from '../workflows/definition.ts';
import { type DueStep, outcomeKey } from '../workflows/progress.ts';
import type { StepOutcome, StepResult } from '../workflows/scope.ts';
import { HostedStep, type StepTask } from './hostedStep.ts';
import type { JournalEntry, StepJournal } from './journal.ts';
import {
  type AgentResult,
  addSpent,
  type BegunStep,
  MAX_WARNINGS,
  type Run,
  type RunOrder,
  type StepRecord,
  type StepWork,
  spentOn,
} from './run.ts';

/** What the output of a step may have, in bytes of JSON: a step is one document. */
const MAX_OUTPUT_BYTES = 800_000;

/** Executes a step. It never rejects for what is the step's own fault: that is its record. */
export async function executeStep(
  task: StepTask,
  ports: OrchestrationPorts,
  taskCreation: TaskCreation,
): Promise<StepWork> {
  try {
    const isForNetwork = agentsOf(task.due.step)[0] === NETWORK;
    const work = await (isForNetwork
      ? executeOnNetwork(task, ports, taskCreation)
      : new HostedStep(task, ports).execute());
    const { output, results } = work.record;
    if (byteLength([output, results]) <= MAX_OUTPUT_BYTES) return work;
    const reason = `Its output has more than ${MAX_OUTPUT_BYTES} bytes.`;
    return { ...work, record: failed(work.record, 'OUTPUT_TOO_LARGE', reason) };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    const { begun, journal } = task;
    const attempts = journal.booked;
    const ended = { ...begun, attempts, spent: spentOn(attempts), settledAt: ports.clock.now() };
    return { record: failed(ended, error.details.reason ?? error.code, error.message), warnings: [] };
  }
}

function failed(
  { output: _, results: __, ...step }: BegunStep & Partial<StepRecord>,
  reason: string,
  message: string,
): StepRecord {
  return { ...step, status: 'failed', failure: { reason, message } };
}

// What a step's record means to its run.

/** What the workflow goes on from. */
export function outcomesOf(records: Iterable<StepRecord>): ReadonlyMap<string, StepOutcome> {
  const outcomes = new Map<string, StepOutcome>();
  for (const record of records) {
    const outcome = outcomeOf(record);
    if (outcome !== undefined) outcomes.set(outcomeKey(record), outcome);
  }
  return outcomes;
}

function outcomeOf({ status, output = '', results, failure }: StepRecord): StepOutcome | undefined {
  if (status === 'succeeded')
    return { status: 'done', output, ...(results && { results: results.flatMap(valid) }) };
  if (status === 'failed') return { status: 'failed', error: failure?.message ?? 'It failed.' };
  return undefined;
}

function valid({ agent, output }: AgentResult): StepResult | [] {
  return output === undefined ? [] : { agent, output };
}

/** The run once a step is recorded. */
export function withRecord(run: Run, record: StepRecord, warnings: readonly string[]): Run {
  if (record.status === 'waiting') return run;
  return {
    ...run,
    deliveries: 0,
    stepsSettled: run.stepsSettled + 1,
    spent: addSpent(run.spent, record.spent),
    current: run.current.filter((name) => name !== record.name),
    warnings: [...new Set([...run.warnings, ...warnings])].slice(0, MAX_WARNINGS),
  };
}

/** What a step's requests tell of the agents. */
export function measurements({ status, attempts }: StepRecord): readonly Change[] {
  if (status === 'waiting') return [];
  return measuresOf(attempts).map((measure) => ({ kind: 'measureAgent', measure }));
}

/** What is said of calls that were made again: instances died in them, or their input has changed. */
export function repetitionWarnings(
  { name }: DueStep,
  { interrupted, outdated }: StepJournal,
): readonly string[] {
  return [
    ...interrupted.map(
      ({ agent }) =>
        `Step "${name}": a call of ${agent} was made again, since the instance that made it first ended before its answer. The first may have been billed.`,
    ),
    ...outdated.map(
      ({ agent }) =>
        `Step "${name}": a call of ${agent} was made again, since it had been made with another input. Both are booked.`,
    ),
  ];
}

/** What commits may change of runs, their steps, their journal and the answers that are kept. */
export interface RunChanges {
  readonly createRun: { readonly run: Run; readonly order: RunOrder };
  readonly replaceRun: { readonly run: Run; readonly version: string };
  /** In place of what was recorded while it waited. */
  readonly recordStep: { readonly runId: string; readonly step: StepRecord };
  /** Stale where the call has been started before. */
  readonly startCall: { readonly runId: string; readonly entry: JournalEntry };
  readonly completeCall: { readonly runId: string; readonly entry: JournalEntry };
  /** Says which run answers a question; `replaces` is the version of an answer that is no longer good. */
  readonly keepAnswer: {
    readonly key: string;
    readonly runId: string;
    readonly expiresAt: Date;
    readonly replaces?: string;
  };
}

declare module '../../../../kernel/commit.ts' {
  interface ChangeKinds extends RunChanges {}
}
