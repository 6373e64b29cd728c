/** What the rules of coding read by, and what its store implements. */

import type { ChangeOf, Versioned } from '../../../kernel/commit.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type {
  CodingTask,
  CoordinationChange,
  QueueMark,
  StoredResult,
  TaskStatus,
} from '../../coordination/index.ts';
import type { CodingChanges, LogHead, LogLine, LogType } from './log.ts';

export interface OwnedLine extends LogLine {
  readonly taskId: string;
}

export interface LinesOfDay {
  readonly lines: readonly OwnedLine[];
  readonly more: boolean;
}

/** Lines of a log in their order. `total` counts all that were ever written. */
export interface LogExcerpt {
  readonly lines: readonly LogLine[];
  readonly total: number;
}

export interface TaskLogQueries {
  head(taskId: string): Promise<Versioned<LogHead> | undefined>;
  /** At most `limit` lines from line `from` on; fewer where they are long. */
  read(taskId: string, from: number, limit: number): Promise<LogExcerpt>;
  /** The last lines, at most `limit` of them and about `bytes` bytes. */
  tail(taskId: string, limit: number, bytes: number): Promise<LogExcerpt>;
  /** Of all tasks of a workspace, from the latest chunks, until there are more than `limit`. @param date `2026-11-22`, in UTC */
  ofDay(workspace: string, type: LogType, date: string, limit: number): Promise<LinesOfDay>;
  /** The tasks of chunks to which nobody has added since an instant, longest ago first; one as often as it has such. */
  tasksWithOldLogs(before: Date): AsyncGenerator<string, void, undefined>;
  /** Removes a task's log. Tells how many documents it had. */
  forget(taskId: string): Promise<number>;
}

export interface CodingTaskQueries {
  /** Of all the workspace's sessions, newest first. */
  list(workspace: string, filter: CodingFilter, page: Page): Promise<Slice<CodingTask>>;
  count(workspace: string, statuses: readonly TaskStatus[]): Promise<number>;
  result(taskId: string, storedResult: StoredResult): Promise<string>;
  /** Resolves when more may be claimable, or `until` is aborted. Where there is no session yet, it watches the workspace. */
  queueGrowth(workspace: string, queueMark: QueueMark, until: AbortSignal): Promise<void>;
  /** Yields when a task or its log has changed, first for what is there, until `gone`. */
  changes(taskId: string, gone: AbortSignal): AsyncGenerator<true>;
}

/** Which coding tasks of a workspace: all, those of a branch, or those of a project. */
export interface CodingFilter {
  readonly branch?: string;
  readonly project?: string;
}

export type CodingChange = ChangeOf<CodingChanges> | CoordinationChange;
