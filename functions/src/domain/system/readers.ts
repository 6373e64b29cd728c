/** How the system tools read. Each call reads what it gives and a constant more. */
import type { Agent, RegistryCount } from '../agents/agent.ts';
import type { Availability } from '../agents/availability.ts';
import type { Slice } from '../readers.ts';
import type { Task } from '../tasks/task.ts';
import type { CapabilitySkill } from './skill.ts';

export interface AgentQuery {
  readonly availability?: Availability | undefined;
  readonly type?: string | undefined;
  /** All of these, as foldedCapability writes them. */
  readonly capabilities: readonly string[];
}

/** The place after which a list goes on: what it is ordered by, in the last item looked at, and its id. */
export interface Place {
  readonly order: readonly number[];
  readonly id: string;
}

/** Of an answer, what the tasks of one state of the queue may take: two of them may have to share it. */
export const STATE_SHARE = 0.5;

export interface Found<Item> {
  readonly items: readonly Item[];
  /** Where the list goes on, where it does; a page may be shorter than asked for and go on all the same. */
  readonly next?: Place;
}

export interface AgentDirectoryReader {
  list(query: AgentQuery, limit: number, after: Place | undefined): Promise<Found<Agent>>;
  /** How many agents there are of a kind that is looked up by index; idle agents are the rest. */
  count(availability: 'active' | 'busy' | 'error'): Promise<number>;
  registered(): Promise<RegistryCount>;
  /** Agents of a workspace that were alive at the last sweep. */
  live(workspace: string, limit: number): Promise<Slice<Agent>>;
  /** The ids of some agents that lead a workspace. */
  leaders(workspace: string, limit: number): Promise<readonly string[]>;
}

/** The states of a task that is not closed, as system.getTaskQueue names them. */
export const QUEUE_STATUSES = ['pending', 'blocked', 'assigned', 'in_progress'] as const;

export type QueueStatus = (typeof QUEUE_STATUSES)[number];

export interface PriorityRange {
  readonly from: number;
  readonly to: number;
}

export interface QueueFilter {
  readonly priorities: PriorityRange | undefined;
  readonly type: string | undefined;
}

export interface QueueReader {
  /**
   * Tasks of one state. Pending ones are in the order of the queue; the others by priority, creation and id, blocked
   * ones by how much blocks them before that.
   */
  list(
    session: string,
    status: QueueStatus,
    filter: QueueFilter,
    limit: number,
    after: Place | undefined,
  ): Promise<Found<Task>>;
  /** Those that can be claimed. */
  countPending(session: string): Promise<number>;
  countBlocked(session: string): Promise<number>;
  /** When the oldest task that is not closed was created. */
  oldest(session: string): Promise<Date | undefined>;
}

export interface SkillQuery {
  /** Without regard to case and accents. */
  readonly category?: string | undefined;
  /** Each must begin a word of the name; as search.ts writes them. */
  readonly words: readonly string[];
  readonly includeDeprecated: boolean;
}

export interface SkillReader {
  /** Capabilities by name. Of more than 1,000 that begin with the longest word, the first are looked through. */
  find(
    query: SkillQuery,
    offset: number,
    limit: number,
  ): Promise<{ readonly skills: readonly OfferedSkill[]; readonly total: number }>;
}

/** A capability and how many agents have it now. */
export type OfferedSkill = CapabilitySkill & { readonly agents: number };
