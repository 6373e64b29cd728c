/** A task of the one work queue: `tasks/{taskId}`. Source: docs/semantics.md#one-model. */
import type { CodingWork } from '../coding/work.ts';

/** The stored states. `waiting` is a coding task whose agent is done while its session is alive. */
export const TASK_STATUSES = [
  'available',
  'claimed',
  'in_progress',
  'waiting',
  'done',
  'failed',
  'cancelled',
] as const;

export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Who may work on a task, until when. `epoch` fences: it grows with every claim of the task. */
export interface Claim {
  readonly agentId: string;
  readonly epoch: number;
  readonly claimedAt: Date;
  readonly leaseSeconds: number;
  readonly leaseExpiresAt: Date;
  readonly startedAt?: Date;
  /** A runner's: only what it says of this task extends the lease, not just any call of its agent. */
  readonly isRunners?: true;
}

/** A claim whose lease ran out: its holder may still come back with a result. */
export interface LapsedClaim {
  readonly agentId: string;
  readonly epoch: number;
}

export interface TaskResult {
  readonly output: string;
  readonly filesModified?: readonly string[];
  readonly filesCreated?: readonly string[];
}

/** What a former holder brought after somebody else had claimed the task. */
export interface LateResult {
  readonly agentId: string;
  readonly epoch: number;
  readonly receivedAt: Date;
  readonly result?: TaskResult;
  readonly error?: string;
}

export interface Task {
  readonly id: string;
  readonly workspace: string;
  /** The coordination session that it belongs to; archiving the session takes it out of the queue. */
  readonly session: string;
  /** The kind of work, where its creator named one; projection.ts tells that of any task. */
  readonly type?: string;
  readonly description: string;
  /** 1 (first) to 10 (last). */
  readonly priority: number;
  readonly status: TaskStatus;
  readonly dependencies: readonly string[];
  /** The tasks that depend on this one, so that closing it needs no query. */
  readonly dependents: readonly string[];
  /** What stands between an available task and a claim: open dependencies, and one while it backs off. */
  readonly blockers: number;
  readonly failedDependencies: readonly string[];
  readonly requiredCapabilities: readonly string[];
  readonly context: { readonly files: readonly string[]; readonly hints?: string };
  readonly createdAt: Date;
  readonly createdBy: string;
  /** When it should be done. At equal priority what is due earlier comes first, and what has none last. */
  readonly deadline?: Date;
  /** The epoch of the latest claim; 0 before the first. */
  readonly epoch: number;
  /** The claim in force, or the one that closed the task. */
  readonly claim?: Claim;
  /** Former holders whose lease lapsed, latest last. */
  readonly lapsedClaims: readonly LapsedClaim[];
  /** How many retryable failures it has had. */
  readonly retries: number;
  /** While it backs off: when it becomes claimable again. */
  readonly retryAt?: Date;
  readonly result?: TaskResult;
  readonly error?: string;
  readonly closedAt?: Date;
  readonly lateResult?: LateResult;
  /** What a coding task has beside all this. */
  readonly coding?: CodingWork;
}

export function isClosed(status: TaskStatus): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

export function isHeld(status: TaskStatus): boolean {
  return status === 'claimed' || status === 'in_progress' || status === 'waiting';
}
