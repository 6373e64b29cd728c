/** What orchestrations ask of the world: hosted agents, and how runs are read and dispatched. */

import type { BudgetPorts } from '../../../graph/rules/budget.ts';
import type { PortOf, Timer } from '../../../kernel/ports.ts';
import type { FieldsCodec } from '../../../kernel/trail.ts';
import type { BudgetWaitPorts, CoordinationPorts, OwnerPorts } from '../../coordination/index.ts';
import type { RunQueries } from '../store/runs.ts';
import type { AgentMeasures, WorkflowQueries } from '../store/workflows.ts';
import type { WorkRecordQueries } from '../store/workRecords.ts';
import type { RunOrder } from './runs/run.ts';
import type { SavedWorkflow } from './workflows/definition.ts';

/** Why a model's call failed, in no vendor's words. What is tried again, and by whom, is decided by these. */
export const FAILURE_CLASSES = [
  'overloaded',
  'rate_limited',
  'network',
  'timeout',
  'server_error',
  'context_too_long',
  'authentication',
  'quota',
  'refused',
  'invalid_request',
  'malformed',
  'truncated',
  'aborted',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

export interface ModelRequest {
  readonly system?: string;
  readonly prompt: string;
  readonly maxOutputTokens: number;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelAnswer {
  readonly text: string;
  /** The model as the vendor names what answered. */
  readonly model: string;
  readonly usage: Usage;
  /** False: cut at `maxOutputTokens`. */
  readonly complete: boolean;
}

/** The most that an answer may say, in bytes of UTF-8: with what it cost it is one document of a run's journal. */
export const MAX_ANSWER_BYTES = 800_000;

export interface ModelFailureDetails {
  /** What the vendor said about when to ask again. */
  readonly retryAfterMs?: number | undefined;
  /** What was counted before it failed. */
  readonly usage?: Usage | undefined;
  /** Whether the vendor may have done the work, and billed it. */
  readonly outcomeUnknown?: boolean;
}

/** Thrown by `HostedAgent.ask`. Its message is Muster's own: it never quotes a vendor, and can be shown. */
export class ModelFailure extends Error {
  readonly kind: FailureClass;
  readonly retryAfterMs?: number;
  readonly usage?: Usage;
  readonly outcomeUnknown: boolean;

  constructor(kind: FailureClass, message: string, details: ModelFailureDetails = {}) {
    super(message);
    this.name = 'ModelFailure';
    this.kind = kind;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (details.usage !== undefined) this.usage = details.usage;
    this.outcomeUnknown = details.outcomeUnknown ?? false;
  }
}

/** In US dollars. */
export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

export type Availability =
  | { readonly available: true }
  /** The reason says what to do about it. */
  | { readonly available: false; readonly reason: string };

export interface AskOptions {
  /** Closes the request to the vendor. */
  readonly signal: AbortSignal;
  /** Is told each piece of the answer as it comes. */
  readonly onText?: (text: string) => void;
}

/** A model behind a vendor's API. */
export interface HostedAgent {
  readonly name: string;
  readonly model: string;
  readonly price: Price;
  availability(): Availability;
  /**
   * Exactly one request: it is never repeated here.
   * @throws ModelFailure
   */
  ask(request: ModelRequest, options: AskOptions): Promise<ModelAnswer>;
}

export interface RunDispatch {
  /** Has some instance execute the run soon, at least once. */
  dispatch(runId: string): Promise<void>;
}

export interface OrchestrationPorts extends CoordinationPorts, BudgetPorts {
  /** Those that this deployment has parameters for. */
  readonly hosted: () => readonly HostedAgent[];
  /** What a run may spend where its caller does not say. */
  readonly budget: RunOrder['budget'];
  readonly workflows: PortOf<WorkflowQueries>;
  /** Workflows as the trail tells of them. */
  readonly workflowFields: FieldsCodec<SavedWorkflow>;
  readonly measures: PortOf<AgentMeasures>;
  readonly workRecords: PortOf<WorkRecordQueries>;
  readonly runs: PortOf<RunQueries>;
  readonly dispatch: RunDispatch;
  readonly timer: Timer;
}

/** What executing runs takes beside. */
export type ExecutionPorts = OrchestrationPorts & OwnerPorts & Pick<BudgetWaitPorts, 'askToRaise'>;
