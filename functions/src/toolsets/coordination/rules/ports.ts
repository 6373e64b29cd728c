/** Ports of the coordination rules, implemented by its store. */
import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { Agent } from '../../../agents/rules/agent.ts';
import type { GraphPorts } from '../../../graph/rules/linking.ts';
import type { GraphChange } from '../../../graph/rules/ports.ts';
import type { ChangeOf, Store, Versioned } from '../../../kernel/commit.ts';
import type { CursorPage, ListCursor, ListPage, PageRequest, SweepBatch, TimeCursor } from '../../../kernel/paging.ts';
import type { FileChanges, HeldFilesQueries } from './files/heldFiles.ts';
import type { Mailbox, Message, MessageChanges } from './mailbox.ts';
import type { QuestionChanges } from './proof/questions.ts';
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

/** An agent and the open session. `growth` differs after each change by which more tasks can be claimed. */
export interface SessionAndAgent {
  readonly open: Pick<OpenSession, 'session' | 'readAt'> | undefined;
  readonly agent: Versioned<Agent> | undefined;
  /** Undefined for a session with many queue version shards, because reading them costs more than a query. */
  readonly growth?: string;
}

/** Counters of a session. `stamp` differs after each change of the counters. */
export type CountersNow = ReturnType<typeof sumCounters> & {
  readonly stamp: string;
  /** For each counter shard, the milliseconds since it was last written. */
  readonly ages: readonly number[];
};

/** Queue version shards of a session, and those of its capability keys that no open task requires. */
export interface UnusedShards {
  readonly shards: readonly Versioned<string>[];
  readonly disused: readonly string[];
}

export interface CoordinationPorts extends AccessPorts, GraphPorts {
  readonly store: Store<CoordinationChange>;
  readonly tasks: TaskQueries;
  readonly queue: QueueQueries;
  readonly sessions: SessionQueries;
  readonly mailboxes: MailboxQueries;
  readonly heldFiles: HeldFilesQueries;
  /** Tasks as the latest commits of this instance wrote them. They may be outdated, so a commit must name the version. */
  readonly writtenTasks: Map<string, Versioned<Task>>;
}

export interface MailboxQueries {
  /** Resolves with true when a message arrives; with false when the task has changed or `until` is aborted. */
  arrival(
    agentId: string,
    task: { readonly id: string; readonly version: string },
    isAwaited: (message: Message) => boolean,
    until: AbortSignal,
  ): Promise<boolean>;
  find(agentId: string): Promise<Versioned<Mailbox> | undefined>;
  /** Reports when an agent's messages change, and once at the start. Returns a function that ends this. */
  watch(agentId: string, changed: () => void, failed: (error: unknown) => void): () => void;
}

/** Field of a waiting task that names what it waits for. */
export type WaitField = 'budget_wait' | 'files_wait';

export interface TaskQueries {
  find(taskId: string): Promise<Versioned<Task> | undefined>;
  /** Returns the tasks in the order of the ids, with undefined for unknown and unreadable tasks. */
  findAll(taskIds: readonly string[]): Promise<readonly (Versioned<Task> | undefined)[]>;
  /** Returns the tasks whose ids have this prefix, in the order of their ids. */
  withIdPrefix(beginning: string): Promise<readonly Versioned<Task>[]>;
  /** Returns the open tasks of a session whose ids have this prefix, in the order of their ids. */
  openWithIdPrefix(session: string, beginning: string, limit: number): Promise<readonly Versioned<Task>[]>;
  /** Returns the agent's oldest claimed task that the agent has not started. Claims as a runner are ignored. */
  notStarted(session: string, agentId: string): Promise<Versioned<Task> | undefined>;
  /** Returns the first claimable tasks with one of these capability keys, in the order of the queue. */
  claimable(
    session: string,
    capabilityKeys: readonly string[],
    limit: number,
    queuePart?: QueuePart,
  ): Promise<readonly Versioned<Task>[]>;
  /** Returns the open tasks with a deadline up to `now`, earliest deadline first. */
  late(session: string, now: Date, limit: number): Promise<readonly Task[]>;
  countLate(session: string, now: Date): Promise<number>;
  firstBackoff(session: string): Promise<Versioned<Task> | undefined>;
  /** Returns tasks sorted by creation time, oldest first. */
  list(session: string, statuses: readonly TaskStatus[] | undefined, page: PageRequest): Promise<ListPage<Task>>;
  /** Returns completed tasks sorted by completion time, oldest first. */
  listDone(session: string, page: PageRequest): Promise<ListPage<Task>>;
  /** Returns held tasks of any session whose lease expired by `now`, longest expired first. */
  expired(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>>;
  /** Returns tasks of any session whose check had to bring a verdict by `now`, oldest first. */
  unproven(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>>;
  /** Returns the tasks of a session that are being verified, the first that must be proven first. */
  verifying(session: string, limit: number): Promise<readonly Task[]>;
  countVerifying(session: string): Promise<number>;
  /** Returns the first reviews that an agent with these capability keys could do, in the order of the queue. */
  reviews(session: string, capabilityKeys: readonly string[], limit: number): Promise<readonly Versioned<Task>[]>;
  /** Returns tasks of any session that were closed by `now`, oldest first. */
  closedBefore(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>>;
  /** Deletes the log and the results of a task, which are stored below its document. */
  deleteBelow(taskId: string): Promise<void>;
  /** Returns available tasks of any session whose retry delay ended by `now`, oldest first. */
  backedOff(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>>;
  /** Returns coding tasks of any session whose maximum wait for a runner ended by `now`, oldest first. */
  queueEnded(now: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Task>>>;
  /** Returns the ids of the tasks of any session that wait for a budget, or for files of a task, sorted. */
  waitingFor(
    field: WaitField,
    key: string,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly string[]>;
  /** Returns tasks of a session that wait for files. */
  waitingForFiles(session: string, limit: number): Promise<readonly Versioned<Task>[]>;
  /** Returns an owner's open coding tasks in all workspaces, in the order of their ids. */
  openCodingOf(ownerUid: string, limit: number, after?: string): Promise<readonly Task[]>;
  /** Returns the open coding tasks of a workspace, in the order of their ids. */
  openCodingIn(workspace: string, limit: number, after?: string): Promise<readonly Task[]>;
  /** Returns tasks of any session whose dependents must still be updated, in the order of their ids. */
  unsettled(limit: number, after?: string): Promise<readonly Versioned<Task>[]>;
  /** Returns stuck tasks sorted by creation time, oldest first. */
  listStuck(session: string, page: PageRequest): Promise<ListPage<Task>>;
  countStuck(session: string): Promise<number>;
}

/** State of the session when a claim read it, so that callers can wait for later changes. Empty without a session. */
export interface QueueMark {
  readonly session?: string;
  /** Time of the read, by the database's clock. */
  readonly readAt?: string;
}

export interface QueueQueries {
  /**
   * Returns tasks of one status. Pending tasks are in the order of the queue. Other tasks are sorted by priority,
   * creation time and id; blocked tasks are first sorted by their number of blockers.
   */
  list(
    session: string,
    status: QueueStatus,
    queueFilter: QueueFilter,
    page: { readonly limit: number; readonly after?: ListCursor | undefined },
  ): Promise<CursorPage<Task>>;
  count(session: string, status: QueueStatus): Promise<number>;
  /** Returns the creation time of the oldest open task. */
  oldest(session: string): Promise<Date | undefined>;
  /** Resolves when more tasks may be claimable, or `until` is aborted. Without a session, watches the workspace. */
  growth(workspace: string, queueMark: QueueMark, until: AbortSignal): Promise<void>;
}

export interface SessionQueries {
  current(workspace: string): Promise<OpenSession | undefined>;
  /** Returns the open session, or only the version of the workspace document, or nothing for an unknown workspace. */
  opening(workspace: string): Promise<Opening>;
  /** Returns the agent and the workspace's open session, in one round trip if this instance knows the session. */
  currentWithAgent(workspace: string, agentId: string): Promise<SessionAndAgent>;
  archived(workspace: string, session: string): Promise<Versioned<Session> | undefined>;
  lastArchived(workspace: string): Promise<Versioned<Session> | undefined>;
  /** Returns archived sessions with tasks that runs may still wait for. */
  uncleared(limit: number): Promise<readonly ArchivedSession[]>;
  /** Returns findings, newest first. If `tags` is set, only findings with at least one of these tags are returned. */
  discoveries(session: string, tags: readonly string[] | undefined, page: PageRequest): Promise<ListPage<Discovery>>;
  counters(workspace: string, session: string): Promise<CountersNow>;
  /** Returns the milliseconds since the last write of each queue version shard. */
  growthAges(session: Session): Promise<readonly number[]>;
  /** Reads the queue version shards first. Then finds up to `enough` of the `keys` that no open task requires. */
  unusedShards(session: Session, keys: readonly string[], enough: number): Promise<UnusedShards>;
}

/** Statuses of open tasks, as the tool system.getTaskQueue names them. */
export const QUEUE_STATUSES = ['pending', 'blocked', 'assigned', 'in_progress'] as const;
export type QueueStatus = (typeof QUEUE_STATUSES)[number];

export interface QueueFilter {
  readonly priorities?: { readonly from: number; readonly to: number } | undefined;
  readonly type?: string | undefined;
  /** Whether pending tasks can have deadlines. Default: true. */
  readonly hasDeadlines?: boolean;
}

/** A changed task, and the changes of other documents that belong to it. */
export interface TaskWithChanges {
  readonly task: Task;
  readonly changes: readonly CoordinationChange[];
}

export type CoordinationChange =
  | ChangeOf<TaskChanges & SessionChanges & MessageChanges & QuestionChanges & FileChanges>
  | AccessChange
  | GraphChange;
