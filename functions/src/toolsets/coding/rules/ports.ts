/** Ports of the coding rules, implemented by its store. */
import type { ChangeOf, Versioned } from '../../../kernel/commit.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { CodingTask, CoordinationChange, StoredResult, TaskStatus } from '../../coordination/index.ts';
import type { CodingChanges, LogHead, LogLine, LogType } from './log.ts';

export interface OwnedLine extends LogLine {
  readonly taskId: string;
}

export interface LinesOfDay {
  readonly lines: readonly OwnedLine[];
  readonly more: boolean;
}

/** Successive lines of a log. `total` is the number of lines ever written to the log. */
export interface LogExcerpt {
  readonly lines: readonly LogLine[];
  readonly total: number;
}

export interface TaskLogQueries {
  head(taskId: string): Promise<Versioned<LogHead> | undefined>;
  /** Returns at most `limit` lines, starting at line `from`. Fewer lines are returned if the lines are long. */
  read(taskId: string, from: number, limit: number): Promise<LogExcerpt>;
  /** Returns at most the `limit` latest lines. Chunks are read until they contain `bytes` bytes. */
  tail(taskId: string, limit: number, bytes: number): Promise<LogExcerpt>;
  /** Returns a day's lines (UTC) from the workspace's latest chunks. Stops reading after more than `limit` lines. */
  ofDay(workspace: string, type: LogType, date: string, limit: number): Promise<LinesOfDay>;
  /** Yields the task of each chunk that was last changed before `before`, oldest first. Tasks can be repeated. */
  tasksWithOldLogs(before: Date): AsyncGenerator<string, void, undefined>;
  /** Deletes a task's log. Returns the number of documents deleted. */
  remove(taskId: string): Promise<number>;
}

export interface CodingTaskQueries {
  /** Returns coding tasks from all sessions of the workspace, newest first. */
  list(workspace: string, filter: CodingFilter, page: PageRequest): Promise<ListPage<CodingTask>>;
  count(workspace: string, statuses: readonly TaskStatus[]): Promise<number>;
  result(taskId: string, storedResult: StoredResult): Promise<string>;
  /** Yields at once, and again after each change of the task or its log, until `disconnected` is aborted. */
  changes(taskId: string, disconnected: AbortSignal): AsyncGenerator<true>;
}

export interface CodingFilter {
  readonly branch?: string;
  readonly project?: string;
}

export type CodingChange = ChangeOf<CodingChanges> | CoordinationChange;
