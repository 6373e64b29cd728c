/** What orchestrations ask of the world: hosted agents, and how runs are read and dispatched. */

import type { BudgetPorts } from '../../../graph/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import type { Batch, Page, Position, Slice } from '../../../kernel/paging.ts';
import type { Timer } from '../../../kernel/ports.ts';
import type {
  BudgetWaitPorts,
  CoordinationChange,
  CoordinationPorts,
  OwnerPorts,
} from '../../coordination/index.ts';
import type { HostedAgent } from './agents/model.ts';
import type { AgentMeasure, MeasureChanges } from './agents/profile.ts';
import type { WorkChanges, WorkRecord } from './agents/standing.ts';
import type { JournalEntry } from './calls/attempt.ts';
import type { Run, RunChanges, RunOrder, RunStatus } from './runs/run.ts';
import type { StepRecord } from './steps/step.ts';
import type { SavedWorkflow, WorkflowChanges } from './workflows/validation.ts';

export interface RunDispatch {
  /** Has some instance execute the run soon, at least once. */
  dispatch(runId: string): Promise<void>;
}

export interface OrchestrationPorts extends CoordinationPorts, BudgetPorts {
  readonly store: Store<OrchestrationChange>;
  /** Those that this deployment has parameters for. */
  readonly hosted: () => readonly HostedAgent[];
  /** What a run may spend where its caller does not say. */
  readonly budget: RunOrder['budget'];
  readonly workflows: WorkflowQueries;
  /** Workflows as the trail tells of them. */
  readonly workflowFields: FieldsCodec<SavedWorkflow>;
  readonly measures: AgentMeasures;
  readonly workRecords: WorkRecordQueries;
  readonly runs: RunQueries;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}

/** What executing runs takes beside. */
export type ExecutionPorts = OrchestrationPorts & OwnerPorts & Pick<BudgetWaitPorts, 'askToRaise'>;

export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly workspace?: string | undefined;
}

export interface RunQueries {
  find(runId: string): Promise<Versioned<Run> | undefined>;
  /** @throws Error where there is none */
  order(runId: string): Promise<RunOrder>;
  /** In the order of their numbers. None is stepped over: what a step or a call has done would be done again, and paid for. */
  steps(runId: string): Promise<readonly StepRecord[]>;
  /** The calls of one step, in any order. */
  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]>;
  /** The calls of all steps, in any order. */
  calls(runId: string): Promise<readonly JournalEntry[]>;
  /** An owner's, the newest first; with a status, those that are in it, and of one workspace where it is named. */
  list(ownerUid: string, runFilter: RunFilter, page: Page): Promise<Slice<Run>>;
  /** Runs of an owner that have not ended, in any workspace, by id. */
  openOf(ownerUid: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Runs of a workspace that have not ended, by id. */
  openIn(workspace: string, limit: number, after?: string): Promise<readonly Run[]>;
  /** Those for which something should have happened by `now`, the longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<Run>>;
  /** Those that had ended by `now`, the longest ago first. */
  endedBefore(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Run>>>;
  /** Removes what is stored below a run: its order, its steps and its journal. */
  forgetBelow(runId: string): Promise<void>;
  /** The ids of those that wait for a budget, in their order. */
  waitingFor(budgetKey: string, limit: number, after?: string): Promise<readonly string[]>;
  /** The run as it is now and after each change, until the signal. Changes in quick succession may come as one. */
  watch(runId: string, end: AbortSignal): AsyncGenerator<Run, void, undefined>;
  /** Which run has answered a question, or is about to. */
  answer(key: string): Promise<Versioned<{ readonly run_id: string }> | undefined>;
}

export interface WorkflowQueries {
  find(id: string): Promise<Versioned<SavedWorkflow> | undefined>;
  /** An owner's, by name. */
  list(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<SavedWorkflow>>;
}

export interface AgentMeasures {
  /** Those of the agents that have been measured. */
  read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>>;
}

export interface WorkRecordQueries {
  /** Empty where there is none, or it cannot be read: agents are then chosen by what the specification says of them. */
  find(workspace: string): Promise<WorkRecord>;
}

export type OrchestrationChange =
  | ChangeOf<RunChanges & WorkflowChanges & MeasureChanges & WorkChanges>
  | CoordinationChange;
