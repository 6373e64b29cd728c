/** What is counted of the calls, for whoever runs the deployment. Source: spec/network.md, "Monitoring". */
import type { ErrorCode } from '../errors.ts';

/** One call that has ended. */
export interface EndedCall {
  /** The tool's full name, `coordination.create_task`, or the URI of a resource as its toolset lists it. */
  readonly tool: string;
  readonly agentId?: string;
  readonly outcome: ErrorCode | 'OK';
  readonly milliseconds: number;
  readonly at: Date;
}

export interface CallMetrics {
  /** Counts a call. Where counts are due to be stored, waits for that, a second at most. Never fails. */
  record(call: EndedCall): Promise<void> | undefined;
}

export interface Counts {
  readonly calls: number;
  readonly failures: number;
  /** All calls together: divided by `calls`, the average. */
  readonly milliseconds: number;
  /** How many calls ended with each error code. */
  readonly errors: ReadonlyMap<string, number>;
}

export interface AgentCounts extends Counts {
  /** The first of the calls. */
  readonly since: Date;
}

export interface MinuteCounts {
  /** The minute's beginning. */
  readonly minute: Date;
  readonly all: Counts;
  readonly tools: ReadonlyMap<string, Counts>;
}

/** What an instance has counted and not yet stored. */
export interface Tally {
  readonly minutes: readonly MinuteCounts[];
  readonly agents: ReadonlyMap<string, AgentCounts>;
}

/** Where the counts of all instances add up: `metrics` in the Realtime Database. */
export interface MetricsLedger {
  /** Adds all of it or nothing. Takes as long as the database is away. */
  add(tally: Tally): Promise<void>;
}

export interface ToolCounts extends Counts {
  /** The last minute in which it was called. */
  readonly lastUsed: Date;
}

export interface CallHistory {
  readonly all: Counts;
  /** By full name, `coordination.create_task`; only those that were called. */
  readonly tools: ReadonlyMap<string, ToolCounts>;
}

/** Reads the counts that MetricsLedger adds to. */
export interface MetricsReader {
  /** The calls of these minutes, the first and the last included. */
  between(from: Date, to: Date): Promise<CallHistory>;
}
