/** What the rules of coordination read by, and what its store implements. */

import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { Agent } from '../../../agents/rules/agent.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { GraphChange } from '../../../graph/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { Batch, Found, Page, Place, Position, Slice } from '../../../kernel/paging.ts';
import type { Mailbox, MessageChanges } from './mailbox.ts';
import type {
  ArchivedSession,
  Discovery,
  Opening,
  OpenSession,
  Session,
  SessionChanges,
  sumCounters,
} from './session.ts';
import type { QueuePart, Task, TaskChanges, TaskStatus } from './task.ts';

export interface SessionAndAgent {
  readonly open: OpenSession | undefined;
  readonly agent: Versioned<Agent> | undefined;
}

/** A session's counters; `stamp` is another one after each change of what is counted. */
export type CountersNow = ReturnType<typeof sumCounters> & {
  readonly stamp: string;
  /** The milliseconds since each of their documents was written. */
  readonly ages: readonly number[];
};

/** The gates of a session, and sets of capabilities that no open task requires. */
export interface Disused {
  readonly gates: readonly Versioned<string>[];
  readonly disused: readonly string[];
}

export interface CoordinationPorts extends AccessPorts, GraphPorts {
  readonly store: Store<CoordinationChange>;
  readonly tasks: TaskQueries;
  readonly queue: QueueQueries;
  readonly sessions: SessionQueries;
  readonly mailboxes: MailboxQueries;
}

export interface MailboxQueries {
  find(agentId: string): Promise<Versioned<Mailbox> | undefined>;
}

export interface TaskQueries {
  find(taskId: string): Promise<Versioned<Task> | undefined>;
  /** In the order asked; the place of an unknown id is undefined, and of a task that cannot be read. */
  findAll(taskIds: readonly string[]): Promise<readonly (Versioned<Task> | undefined)[]>;
  /** Those whose ids begin so, by id. */
  startingWith(beginning: string): Promise<readonly Versioned<Task>[]>;
  /** Those of a session that are open and whose ids begin so, by id. */
  openStartingWith(session: string, beginning: string, limit: number): Promise<readonly Versioned<Task>[]>;
  /** Of what the agent has claimed otherwise than as a runner, and not started, the oldest claim. */
  notStarted(session: string, agentId: string): Promise<Task | undefined>;
  /** The first claimable tasks that require one of these sets of capabilities, in the order of the queue. */
  claimable(
    session: string,
    capabilityKeys: readonly string[],
    limit: number,
    queuePart?: QueuePart,
  ): Promise<readonly Versioned<Task>[]>;
  /** Tasks that are not closed and were due by `now`, longest ago first. */
  late(session: string, now: Date, limit: number): Promise<readonly Task[]>;
  countLate(session: string, now: Date): Promise<number>;
  firstBackoff(session: string): Promise<Versioned<Task> | undefined>;
  /** By creation, oldest first. */
  list(session: string, statuses: readonly TaskStatus[] | undefined, page: Page): Promise<Slice<Task>>;
  /** Done tasks by completion, oldest first. */
  listDone(session: string, page: Page): Promise<Slice<Task>>;
  /** Held tasks of any session whose lease ran out by `now`, longest ago first. */
  lapsed(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
  /** Tasks of any session that had ended by `now`, longest ago first. */
  closedBefore(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
  /** Removes what is stored below a task: its log and its results. */
  forgetBelow(taskId: string): Promise<void>;
  /** Available tasks of any session whose backoff ended by `now`, longest ago first. */
  backedOff(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
  /** Coding tasks of any session that had waited too long for a runner by `now`, longest ago first. */
  queueEnded(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
  /** The ids of those of any session that wait for a budget, in their order. */
  waitingFor(budgetKey: string, limit: number, after?: string): Promise<readonly string[]>;
  /** Open coding tasks of an owner, in any workspace, by id. */
  openCodingOf(ownerUid: string, limit: number, after?: string): Promise<readonly Task[]>;
  /** Open coding tasks of a workspace, by id. */
  openCodingIn(workspace: string, limit: number, after?: string): Promise<readonly Task[]>;
  /** Tasks of any session whose dependents are to be told whether they can never start, by id. */
  unsettled(limit: number, after?: string): Promise<readonly Versioned<Task>[]>;
  /** Those that can never start, by creation, oldest first. */
  listStuck(session: string, page: Page): Promise<Slice<Task>>;
  countStuck(session: string): Promise<number>;
}

export interface QueueQueries {
  /**
   * Tasks of one state. Pending ones are in the order of the queue; the others by priority, creation and id, blocked
   * ones by how much blocks them before that.
   */
  list(
    session: string,
    status: QueueStatus,
    queueFilter: QueueFilter,
    page: { readonly limit: number; readonly after?: Place | undefined },
  ): Promise<Found<Task>>;
  /** How many there are in a state, counted in an order that has an index. */
  count(session: string, status: QueueStatus): Promise<number>;
  /** When the oldest task that is not closed was created. */
  oldest(session: string): Promise<Date | undefined>;
}

export interface SessionQueries {
  current(workspace: string): Promise<OpenSession | undefined>;
  /** The open session, or the version of a workspace that has none. Neither where there is no workspace. */
  opening(workspace: string): Promise<Opening>;
  /** The agent and the open session in one round trip. */
  currentWithAgent(workspace: string, agentId: string): Promise<SessionAndAgent>;
  archived(workspace: string, session: string): Promise<Versioned<Session> | undefined>;
  /** The session that was archived last. */
  lastArchived(workspace: string): Promise<Versioned<Session> | undefined>;
  /** Sessions that were archived and not cleared yet. */
  uncleared(limit: number): Promise<readonly ArchivedSession[]>;
  /** Newest first, with any of `tags` where given. */
  discoveries(session: string, tags: readonly string[] | undefined, page: Page): Promise<Slice<Discovery>>;
  /** `stamp` is another one after each change of what is counted; `ages` are in milliseconds since each document was written. */
  counters(workspace: string, session: string): Promise<CountersNow>;
  /** Another one after each time that more of the session has become claimable. */
  grownAt(session: Session): Promise<string>;
  /** The gates, read first, and then those of `keys`, in their order, that no open task requires, until there are enough. */
  disused(session: Session, keys: readonly string[], enough: number): Promise<Disused>;
}

/** The states of a task that is not closed, as system.getTaskQueue names them. */
export const QUEUE_STATUSES = ['pending', 'blocked', 'assigned', 'in_progress'] as const;

export type QueueStatus = (typeof QUEUE_STATUSES)[number];

export interface QueueFilter {
  readonly priorities?: { readonly from: number; readonly to: number } | undefined;
  readonly type?: string | undefined;
}

export type CoordinationChange =
  | ChangeOf<TaskChanges & SessionChanges & MessageChanges>
  | AccessChange
  | GraphChange;
