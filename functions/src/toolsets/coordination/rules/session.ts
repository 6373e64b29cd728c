import type { TaskStatus } from './task.ts';

/**
 * One coordination: a goal, a plan and the tasks under it. A workspace has at most one that is open:
 * `workspaces/{workspace}` names it, `workspaces/{workspace}/sessions/{id}` is it, and archiving moves it to
 * `workspaces/{workspace}/archive/{id}`.
 */
export interface Session {
  readonly id: string;
  readonly workspace: string;
  /** Empty until init_coordination gives it one: tasks may be created before. */
  readonly goal: string;
  readonly masterPlan: string;
  readonly createdAt: Date;
  /** Grows whenever something becomes claimable; a cached window of the queue is good for one version. */
  readonly queueVersion: number;
  /** The keys of the sets of capabilities that its tasks require. */
  readonly capabilityKeys: readonly string[];
}

/** The goal of a session that a coding task has opened, until init_coordination gives it one of its own. */
export const CODING_GOAL = 'Coding';

/** What is counted in a session, so that a status never reads the tasks. */
export type Counter = TaskStatus | 'discoveries';

/** What commits may change of sessions and what is in them beside tasks. */
export interface SessionChanges {
  /** Makes a session its workspace's own; `replaces` is the workspace's version, where it has one. */
  readonly openSession: { readonly session: Session; readonly replaces?: string };
  readonly describeSession: { readonly session: Session; readonly version: string };
  /** Takes a session out of service; commits that expect it to be open fail from then on. */
  readonly archiveSession: { readonly session: Session; readonly at: Date };
  /** No run waits any more for a task of an archived session. */
  readonly sessionCleared: { readonly session: Pick<Session, 'workspace' | 'id'> };
  /** More can be claimed than before. Refused as stale where the session is no longer open. */
  readonly queueGrew: {
    readonly workspace: string;
    readonly session: string;
    readonly capabilityKeys: readonly string[];
  };
  readonly count: {
    readonly workspace: string;
    readonly session: string;
    readonly by: Partial<Readonly<Record<Counter, number>>>;
    readonly at: Date;
    /** Milliseconds that a task waited until its first claim, where this counts one. */
    readonly waited?: number;
  };
  readonly createDiscovery: { readonly discovery: Discovery };
}

declare module '../../../kernel/commit.ts' {
  interface ChangeKinds extends SessionChanges {}
}

/** Something an agent found out and shares: `discoveries/{id}`. */
export interface Discovery {
  readonly id: string;
  readonly workspace: string;
  readonly session: string;
  readonly agentId: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly createdAt: Date;
}

// A step for a live agent of the network: the task that is put into the work queue for it, and what the
// task's end means to the step. The id is derived, so that a step that is dispatched twice has one task.

/** How the ids of all tasks of all runs begin, and of no others. */
export const TASKS_OF_RUNS = 'run-';

// How the domain reads. Every list is bounded, ordered and continued from a cursor.

export interface SessionCounters {
  readonly counts: Readonly<Record<Counter, number>>;
  readonly lastActivity?: Date;
  /** Another one after each change of what is counted. */
  readonly stamp: string;
  /** The tasks that were claimed a first time, and how long they had waited for it in all. */
  readonly waits: { readonly tasks: number; readonly milliseconds: number };
}

/** The name of a session that another goal has replaced. */
export type ArchivedSession = Pick<Session, 'workspace' | 'id'>;
