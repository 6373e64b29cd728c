/** What runs need of the world. */
import type { Batch, Page, Position, Slice } from '../../readers.ts';
import type { Versioned } from '../../store.ts';
import type { JournalEntry } from './journalEntry.ts';
import type { Run, RunOrder, RunStatus, StepRecord } from './run.ts';

export interface RunReader {
  find(runId: string): Promise<Versioned<Run> | undefined>;
  /** @throws Error where there is none */
  order(runId: string): Promise<RunOrder>;
  /** In the order of their numbers. */
  steps(runId: string): Promise<readonly StepRecord[]>;
  /** The calls of one step, in any order. */
  journal(runId: string, stepId: string): Promise<readonly JournalEntry[]>;
  /** The calls of all steps, in any order. */
  calls(runId: string): Promise<readonly JournalEntry[]>;
  /** An owner's, the newest first; with a status, those that are in it. */
  list(ownerUid: string, status: RunStatus | undefined, page: Page): Promise<Slice<Run>>;
  /** Those for which something should have happened by `now`, the longest ago first. */
  due(now: Date, limit: number, after?: Position): Promise<Batch<Run>>;
  /** The run as it is now and after each change, until the signal. Changes in quick succession may be told as one. */
  watch(runId: string, end: AbortSignal): AsyncIterable<Run>;
}

export interface RunDispatch {
  /** Has the run executed, soon, by some instance, at least once. */
  dispatch(runId: string): Promise<void>;
}

/** Which run has answered a question, or is about to: `answerCache/{key}`. */
export interface CachedAnswer {
  readonly runId: string;
}

export interface AnswerCache {
  find(key: string): Promise<Versioned<CachedAnswer> | undefined>;
}
