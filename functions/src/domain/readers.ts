/** How the domain reads. Every list is bounded, ordered and continued from a cursor. */
import type { Agent, MemberCount } from './agents/agent.ts';
import type { Credential } from './agents/credential.ts';
import type { Discovery } from './coordination/discovery.ts';
import type { Counter, Session } from './coordination/session.ts';
import type { Versioned } from './store.ts';
import type { Subscription } from './subscriptions/subscription.ts';
import type { Task, TaskStatus } from './tasks/task.ts';

/** The place after which a list goes on: the sort time and the id of the last item given. */
export interface Position {
  readonly at: Date;
  readonly id: string;
}

export interface Page {
  readonly limit: number;
  readonly after?: Position;
}

/** A page of a list: at most its limit, and fewer where the items are large. */
export interface Slice<Item> {
  readonly items: readonly Item[];
  /** Whether the list goes on after these. */
  readonly more: boolean;
}

/** A part of a walk over what is due. Each has its place, at which the walk may be left and taken up again. */
export interface Batch<Item> {
  readonly found: readonly { readonly item: Item; readonly place: Position }[];
  /** Where the walk goes on, where it does. */
  readonly next?: Position;
}

export interface TaskReader {
  find(taskId: string): Promise<Versioned<Task> | undefined>;
  /** In the order asked; the place of an unknown id is undefined, and of a task that cannot be read. */
  findAll(taskIds: readonly string[]): Promise<readonly (Versioned<Task> | undefined)[]>;
  /** The first claimable tasks that require one of these sets of capabilities, in the order of the queue. */
  claimable(
    session: string,
    capabilityKeys: readonly string[],
    limit: number,
    type?: string,
  ): Promise<readonly Versioned<Task>[]>;
  /** Tasks that are not closed and were due by `now`, longest ago first. */
  late(session: string, now: Date, limit: number): Promise<readonly Task[]>;
  countLate(session: string, now: Date): Promise<number>;
  /** Of what the agent has claimed otherwise than as a runner, and not started, the oldest claim. */
  notStarted(session: string, agentId: string): Promise<Task | undefined>;
  /** The task whose backoff ends first. */
  firstBackoff(session: string): Promise<Versioned<Task> | undefined>;
  /** By creation, oldest first. */
  list(session: string, statuses: readonly TaskStatus[] | undefined, page: Page): Promise<Slice<Task>>;
  /** Done tasks by completion, oldest first. */
  listDone(session: string, page: Page): Promise<Slice<Task>>;
  /** Held tasks of any session whose lease ran out by `now`, longest ago first. */
  lapsed(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
  /** Available tasks of any session whose backoff ended by `now`, longest ago first. */
  backedOff(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
  /** Those whose ids begin so, by id. */
  startingWith(beginning: string): Promise<readonly Versioned<Task>[]>;
  /** Those of a session that are open and whose ids begin so, by id. */
  openStartingWith(session: string, beginning: string, limit: number): Promise<readonly Versioned<Task>[]>;
  /** Coding tasks of any session that had waited too long for a runner by `now`, longest ago first. */
  queueEnded(now: Date, limit: number, after?: Position): Promise<Batch<Versioned<Task>>>;
}

export interface AgentReader {
  find(agentId: string): Promise<Versioned<Agent> | undefined>;
  credentials(agentId: string): Promise<readonly Credential[]>;
}

export interface SessionReader {
  /** The workspace's open session and the version of the workspace that names it. */
  current(workspace: string): Promise<OpenSession | undefined>;
  /** The agent and the open session in one round trip. */
  currentWithAgent(
    workspace: string,
    agentId: string,
  ): Promise<{
    readonly open: OpenSession | undefined;
    readonly agent: Versioned<Agent> | undefined;
  }>;
  /** A session that another goal has replaced. */
  archived(workspace: string, session: string): Promise<Session | undefined>;
  counters(workspace: string, session: string): Promise<SessionCounters>;
  /** How many agents have registered in the workspace. */
  members(workspace: string): Promise<MemberCount>;
}

export interface OpenSession {
  readonly session: Session;
  readonly sessionVersion: string;
  readonly workspaceVersion: string;
}

/** The name of a session that another goal has replaced. */
export type ArchivedSession = Pick<Session, 'workspace' | 'id'>;

export interface ArchiveReader {
  /** Sessions that were archived and not cleared yet. */
  uncleared(limit: number): Promise<readonly ArchivedSession[]>;
}

export interface SessionCounters {
  readonly counts: Readonly<Record<Counter, number>>;
  readonly lastActivity?: Date;
  /** Another one after each change of what is counted. */
  readonly stamp: string;
  /** The tasks that were claimed a first time, and how long they had waited for it in all. */
  readonly waits: { readonly tasks: number; readonly milliseconds: number };
}

export interface DiscoveryReader {
  /** Newest first, with any of `tags` where given. */
  list(session: string, tags: readonly string[] | undefined, page: Page): Promise<Slice<Discovery>>;
}

export interface SubscriptionReader {
  find(id: string): Promise<Versioned<Subscription> | undefined>;
  /** How many a principal has, the expired ones included that are still to be swept. */
  count(uid: string): Promise<number>;
  /** Those that expired by `now`, longest ago first. */
  expired(now: Date, limit: number): Promise<readonly Versioned<Subscription>[]>;
}
