import type { TaskStatus } from '../tasks/task.ts';
import type { Discovery } from './discovery.ts';

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

/** A workspace's name. */
export const WORKSPACE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The workspace of callers who name none. */
export const DEFAULT_WORKSPACE = 'default';

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

declare module '../store.ts' {
  interface ChangeKinds extends SessionChanges {}
}
