/** Ports of the coding rules, implemented by its store. */

import type { ChangeOf, Versioned } from '../../../kernel/commit.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { CodingTask, CoordinationChange, QueueMark, StoredResult, TaskStatus } from '../../coordination/index.ts';
import type { CodingChanges, LogHead, LogLine, LogType } from './log.ts';

export interface OwnedLine extends LogLine {
  readonly taskId: string;
}

export interface LinesOfDay {
  readonly lines: readonly OwnedLine[];
  readonly more: boolean;
}

/** Lines of a log in order. `total` is the number of lines ever written. */
export interface LogExcerpt {
  readonly lines: readonly LogLine[];
  readonly total: number;
}

export interface TaskLogQueries {
  head(taskId: string): Promise<Versioned<LogHead> | undefined>;
  /** Returns at most `limit` lines, starting at line `from`; fewer if the lines are long. */
  read(taskId: string, from: number, limit: number): Promise<LogExcerpt>;
  /** Returns at most `limit` latest lines; chunks are read until they have `bytes` bytes. */
  tail(taskId: string, limit: number, bytes: number): Promise<LogExcerpt>;
  /** Returns lines of a day (`2026-11-22`, in UTC) from the workspace's latest chunks, until `limit` is exceeded. */
  ofDay(workspace: string, type: LogType, date: string, limit: number): Promise<LinesOfDay>;
  /** Returns the task of each chunk without additions since `before`, oldest first. Tasks can repeat. */
  tasksWithOldLogs(before: Date): AsyncGenerator<string, void, undefined>;
  /** Deletes a task's log. Returns the number of deleted documents. */
  remove(taskId: string): Promise<number>;
}

export interface CodingTaskQueries {
  /** Returns tasks of all the workspace's sessions, newest first. */
  list(workspace: string, filter: CodingFilter, page: PageRequest): Promise<ListPage<CodingTask>>;
  count(workspace: string, statuses: readonly TaskStatus[]): Promise<number>;
  result(taskId: string, storedResult: StoredResult): Promise<string>;
  /** Resolves when more tasks may be claimable, or `until` is aborted. Without a session, watches the workspace. */
  queueGrowth(workspace: string, queueMark: QueueMark, until: AbortSignal): Promise<void>;
  /** Yields for the current state, then after each change of a task or its log, until `gone` is aborted. */
  changes(taskId: string, gone: AbortSignal): AsyncGenerator<true>;
}

/** Filter for coding tasks of a workspace: all, those on a branch, or those of a project. */
export interface CodingFilter {
  readonly branch?: string;
  readonly project?: string;
}

export type CodingChange = ChangeOf<CodingChanges> | CoordinationChange;
