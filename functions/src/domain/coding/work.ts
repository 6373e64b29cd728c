/** What makes a task a coding task: part of `tasks/{taskId}`. Source: spec/coding.md; docs/semantics.md#coding. */
import type { JsonObject } from '../json.ts';
import type { Failure } from './failure.ts';
import type { CodingTool } from './tool.ts';

export interface Commit {
  readonly sha: string;
  readonly subject: string;
}

/** An attempt that is over, but for the one that closed the task. */
export interface PastAttempt {
  readonly epoch: number;
  readonly agentId: string;
  readonly endedAt: Date;
  readonly failure: Failure;
  /** The latest of those that it reported. */
  readonly commits: readonly Commit[];
}

/** Where the result of an attempt is kept: in documents of its own, for a task holds no megabyte beside itself. */
export interface StoredResult {
  readonly epoch: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  readonly parts: number;
}

export interface CodingWork {
  readonly tool: CodingTool;
  readonly instructions: string;
  readonly branch: string;
  readonly config: JsonObject;
  /** The repository, as `owner/name` or a label of the runner's, once somebody has said which. */
  readonly project?: string;
  /** Who may end it beside leaders: the creator's owner. */
  readonly ownerUid: string;
  /** How long it may wait for a runner, in seconds. */
  readonly queueSeconds: number;
  /** While it waits: when it has waited too long. */
  readonly queueEndsAt: Date;
  /** What its holder last said of it. */
  readonly progress?: string;
  /** Why its last attempt failed. */
  readonly failure?: Failure;
  readonly attempts: readonly PastAttempt[];
  readonly result?: StoredResult;
}
