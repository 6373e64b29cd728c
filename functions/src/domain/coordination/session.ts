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
