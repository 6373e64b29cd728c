/** How the coding area reads, and how it hears of changes. */
import type { Page, Slice } from '../readers.ts';
import type { Versioned } from '../store.ts';
import type { QueueMark } from '../tasks/claims.ts';
import type { TaskStatus } from '../tasks/task.ts';
import type { LogLine, LogType } from './log.ts';
import type { LogHead } from './logBook.ts';
import type { CodingTask } from './task.ts';
import type { StoredResult } from './work.ts';

/** Which coding tasks of a workspace: all, those of a branch, or those of a project. */
export interface CodingFilter {
  readonly branch?: string;
  readonly project?: string;
}

export interface CodingTaskReader {
  /** Of all the workspace's sessions, newest first. */
  list(workspace: string, filter: CodingFilter, page: Page): Promise<Slice<CodingTask>>;
  count(workspace: string, statuses: readonly TaskStatus[]): Promise<number>;
  /** The JSON of a result. */
  result(taskId: string, result: StoredResult): Promise<string>;
}

/** Lines of a log in their order. `total` counts all that were ever written. */
export interface LogExcerpt {
  readonly lines: readonly LogLine[];
  readonly total: number;
}

/** Lines of one task's log that belong to a day. */
export interface DayOfLog {
  readonly taskId: string;
  readonly lines: readonly LogLine[];
}

export interface TaskLogReader {
  head(taskId: string): Promise<Versioned<LogHead> | undefined>;
  /** At most `limit` lines from line `from` on; fewer where they are long. */
  read(taskId: string, from: number, limit: number): Promise<LogExcerpt>;
  /** The last lines, at most `limit` of them and about `bytes` bytes. */
  tail(taskId: string, limit: number, bytes: number): Promise<LogExcerpt>;
  /**
   * Lines of one type from one day, of all tasks of a workspace, in the order of time: the latest, at most
   * `limit`.
   * @param date `2026-11-22`, in UTC
   */
  ofDay(
    workspace: string,
    type: LogType,
    date: string,
    limit: number,
  ): Promise<{ readonly days: readonly DayOfLog[]; readonly more: boolean }>;
}

/** Hears of changes, as long as somebody listens. */
export interface CodingWatch {
  /** Resolves when more may be claimable than at the mark, or when `until` is aborted. */
  queueGrowth(workspace: string, mark: QueueMark, until: AbortSignal): Promise<void>;
  /** Yields when a task or its log has changed, first for what is there, until `gone`. */
  task(taskId: string, gone: AbortSignal): AsyncIterable<undefined>;
}
