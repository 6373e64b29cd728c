/** Ports of orchestration: the hosted agents, storage, and a queue that executes runs. */

import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import type { Timer } from '../../../kernel/ports.ts';
import type { BudgetWaitPorts, CoordinationChange, CoordinationPorts, OwnerPorts } from '../../coordination/index.ts';
import type { HostedAgent } from './agents/model.ts';
import type { AgentMeasure, MeasureChanges } from './agents/profile.ts';
import type { WorkChanges, WorkRecord } from './agents/scoring.ts';
import type { JournalEntry } from './calls/attempt.ts';
import type { Run, RunChanges, RunOrder, RunStatus } from './runs/run.ts';
import type { StepRecord } from './steps/step.ts';
import type { SavedWorkflow, WorkflowChanges } from './workflows/validation.ts';

export interface RunDispatch {
  /** Queues the run, so that an instance executes it soon. The run may be delivered more than once. */
  dispatch(runId: string): Promise<void>;
}

export interface OrchestrationPorts extends CoordinationPorts, BudgetPorts {
  readonly store: Store<OrchestrationChange>;
  /** The hosted agents in the deployment's configuration. */
  readonly hosted: () => readonly HostedAgent[];
  /** Default budget of a run. */
  readonly budget: RunOrder['budget'];
  readonly workflows: WorkflowQueries;
  readonly workflowFields: FieldsCodec<SavedWorkflow>;
  readonly measures: AgentMeasures;
  readonly workRecords: WorkRecordQueries;
  readonly runs: RunQueries;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}

/** Ports that only the execution of runs needs. */
export type ExecutionPorts = OrchestrationPorts & OwnerPorts & Pick<BudgetWaitPorts, 'askToRaise'>;

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly workspace?: string | undefined;
}

export interface RunQueries {
  find(runId: string): Promise<Versioned<Run> | undefined>;
  /** @throws Error if the run has no order */
  order(runId: string): Promise<RunOrder>;
  /** Sorted by number. An unreadable document is an error: a skipped step would be executed and paid for again. */
  steps(runId: string): Promise<readonly StepRecord[]>;
  /** Journal entries of one step, in no particular order. */
  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]>;
  /** Journal entries of all steps, in no particular order. */
  calls(runId: string): Promise<readonly JournalEntry[]>;
  /** Runs of an owner, newest first. The filter may restrict the status and the workspace. */
  list(ownerUid: string, runFilter: RunFilter, page: PageRequest): Promise<ListPage<Run>>;
  /** Runs of an owner that have not ended, in all workspaces, sorted by id. */
  openOf(ownerUid: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Runs of a workspace that have not ended, sorted by id. */
  openIn(workspace: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Runs whose due time is at or before `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Run>>;
  /** Runs that ended at or before `now`, oldest first. */
  endedBefore(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Run>>>;
  /** Deletes a run's order, steps and journal. */
  deleteBelow(runId: string): Promise<void>;
  /** Ids of the runs that wait for this budget, sorted. */
  waitingFor(budgetKey: string, limit: number, after?: string): Promise<readonly string[]>;
  /** Yields the run now and after each change, until the signal aborts. Rapid changes may be combined into one. */
  watch(runId: string, end: AbortSignal): AsyncGenerator<Run, void, undefined>;
  /** Run that has answered the question with this cache key, or may still answer it. */
  answer(key: string): Promise<Versioned<{ readonly run_id: string }> | undefined>;
}

export interface WorkflowQueries {
  find(id: string): Promise<Versioned<SavedWorkflow> | undefined>;
  /** Saved workflows of an owner, sorted by name. */
  list(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<SavedWorkflow>>;
}

export interface AgentMeasures {
  /** Measurements by agent. Agents that were never asked are missing from the map. */
  read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>>;
}

export interface WorkRecordQueries {
  /** Empty if the record is missing or unreadable. Agents are then ranked by the specification's capabilities. */
  find(workspace: string): Promise<WorkRecord>;
}

export type OrchestrationChange =
  | ChangeOf<RunChanges & WorkflowChanges & MeasureChanges & WorkChanges>
  | CoordinationChange;
