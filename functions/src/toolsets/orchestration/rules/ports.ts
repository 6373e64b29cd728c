/** Ports of orchestration: the hosted agents, the storage, and the queue that dispatches runs. */
import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import type { ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import type { PortOf, Timer } from '../../../kernel/ports.ts';
import type {
  BudgetWaitPorts,
  CoordinationChange,
  CoordinationPorts,
  OwnerPorts,
  TaskCreation,
} from '../../coordination/index.ts';
import type { HostedAgent } from './agents/model.ts';
import type { AgentMeasure, MeasureChanges } from './agents/profile.ts';
import type { WorkChanges, WorkRecord } from './agents/scoring.ts';
import type { JournalEntry } from './calls/attempt.ts';
import type { Run, RunChanges, RunOrder, RunStatus } from './runs/run.ts';
import type { StepRecord } from './steps/step.ts';
import type { SavedWorkflow, WorkflowChanges } from './workflows/validation.ts';

export interface RunDispatch {
  /** Queues the run, so that an instance executes it soon. The queue may deliver the run more than once. */
  dispatch(runId: string): Promise<void>;
}

export interface OrchestrationPorts extends CoordinationPorts, BudgetPorts {
  readonly store: Store<OrchestrationChange>;
  readonly hosted: () => readonly HostedAgent[];
  readonly budget: RunOrder['budget'];
  readonly workflows: WorkflowQueries;
  readonly workflowFields: FieldsCodec<SavedWorkflow>;
  readonly measures: AgentMeasures;
  readonly workRecords: WorkRecordQueries;
  readonly runs: RunQueries;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}

export interface ExecutionPorts extends OrchestrationPorts, OwnerPorts, Pick<BudgetWaitPorts, 'askToRaise'> {
  readonly taskCreation: PortOf<TaskCreation>;
}

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly workspace?: string | undefined;
}

export interface RunQueries {
  find(runId: string): Promise<Versioned<Run> | undefined>;
  /** @throws Error if the run has no order */
  order(runId: string): Promise<RunOrder>;
  /** Sorted by number. Throws for an unreadable document, or its step would be executed and paid for again. */
  steps(runId: string): Promise<readonly StepRecord[]>;
  /** Entries of one step, unsorted. */
  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]>;
  /** Entries of all steps, unsorted. */
  calls(runId: string): Promise<readonly JournalEntry[]>;
  /** Newest first. The filter may restrict the status and the workspace. */
  list(ownerUid: string, runFilter: RunFilter, page: PageRequest): Promise<ListPage<Run>>;
  /** Runs that have not ended, in all workspaces, sorted by id. */
  openOf(ownerUid: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Runs that have not ended, sorted by id. */
  openIn(workspace: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Returns the runs whose due time is at or before `now`, oldest first. */
  due(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Run>>;
  /** Oldest first. */
  endedBefore(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Run>>>;
  deleteBelow(runId: string): Promise<void>;
  waitingFor(budgetKey: string, limit: number, after?: string): Promise<readonly string[]>;
  /** Yields the run now and after each change, until the signal aborts. Rapid changes may be combined into one. */
  watch(runId: string, end: AbortSignal): AsyncGenerator<Run, void, undefined>;
  /** Returns the run that has answered, or may still answer, the question with this cache key. */
  answer(key: string): Promise<Versioned<{ readonly run_id: string }> | undefined>;
}

export interface WorkflowQueries {
  find(id: string): Promise<Versioned<SavedWorkflow> | undefined>;
  /** Sorted by name. */
  list(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<SavedWorkflow>>;
}

export interface AgentMeasures {
  /** Returns measurements by agent. Agents without any request are missing from the map. */
  read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>>;
}

export interface WorkRecordQueries {
  /** If no readable record is stored, returns an empty one, so that only the specification's capabilities count. */
  find(workspace: string): Promise<WorkRecord>;
}

export type OrchestrationChange =
  | ChangeOf<RunChanges & WorkflowChanges & MeasureChanges & WorkChanges>
  | CoordinationChange;
