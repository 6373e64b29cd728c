/** External dependencies of orchestration: hosted agents, and reading and dispatching runs. */

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
  /** Has an instance execute the run soon, at least once. */
  dispatch(runId: string): Promise<void>;
}

export interface OrchestrationPorts extends CoordinationPorts, BudgetPorts {
  readonly store: Store<OrchestrationChange>;
  /** Agents that this deployment is configured for. */
  readonly hosted: () => readonly HostedAgent[];
  /** Default budget of a run. */
  readonly budget: RunOrder['budget'];
  readonly workflows: WorkflowQueries;
  /** Codec of workflows for the audit log. */
  readonly workflowFields: FieldsCodec<SavedWorkflow>;
  readonly measures: AgentMeasures;
  readonly workRecords: WorkRecordQueries;
  readonly runs: RunQueries;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}

/** Additional dependencies of run execution. */
export type ExecutionPorts = OrchestrationPorts & OwnerPorts & Pick<BudgetWaitPorts, 'askToRaise'>;

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly workspace?: string | undefined;
}

export interface RunQueries {
  find(runId: string): Promise<Versioned<Run> | undefined>;
  /** @throws Error if the run has no order */
  order(runId: string): Promise<RunOrder>;
  /** In number order. No unreadable document is skipped: its work would be repeated and paid for again. */
  steps(runId: string): Promise<readonly StepRecord[]>;
  /** The calls of one step, unordered. */
  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]>;
  /** The calls of all steps, unordered. */
  calls(runId: string): Promise<readonly JournalEntry[]>;
  /** An owner's runs, newest first, filtered by status and workspace if given. */
  list(ownerUid: string, runFilter: RunFilter, page: PageRequest): Promise<ListPage<Run>>;
  /** An owner's open runs in all workspaces, by id. */
  openOf(ownerUid: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** A workspace's open runs, by id. */
  openIn(workspace: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Runs due by `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Run>>;
  /** Runs that ended by `now`, oldest first. */
  endedBefore(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Run>>>;
  /** Deletes a run's order, steps and journal. */
  deleteBelow(runId: string): Promise<void>;
  /** Ids of the runs that wait for a budget, in id order. */
  waitingFor(budgetKey: string, limit: number, after?: string): Promise<readonly string[]>;
  /** The run now and after each change, until the signal. Rapid changes may be combined. */
  watch(runId: string, end: AbortSignal): AsyncGenerator<Run, void, undefined>;
  /** The run that has answered a question or is about to. */
  answer(key: string): Promise<Versioned<{ readonly run_id: string }> | undefined>;
}

export interface WorkflowQueries {
  find(id: string): Promise<Versioned<SavedWorkflow> | undefined>;
  /** An owner's workflows, by name. */
  list(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<SavedWorkflow>>;
}

export interface AgentMeasures {
  /** Measurements of those agents that have any. */
  read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>>;
}

export interface WorkRecordQueries {
  /** Empty if missing or unreadable: agents are then ranked by their capabilities in the specification. */
  find(workspace: string): Promise<WorkRecord>;
}

export type OrchestrationChange =
  | ChangeOf<RunChanges & WorkflowChanges & MeasureChanges & WorkChanges>
  | CoordinationChange;
