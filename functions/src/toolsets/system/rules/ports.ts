/** Interfaces between the system rules and their storage. */
import type { AgentChanges, OfferedSkill } from '../../../agents/rules/agent.ts';
import type { AuditEntry } from '../../../kernel/auditLog.ts';
import type { Store, Versioned } from '../../../kernel/commit.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { UnreadableDocuments } from '../../../kernel/ports.ts';
import type { SweepState } from '../../../kernel/sweep.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import type { GitHubChange, GitHubPorts } from '../../github/index.ts';

export interface CallsBetween {
  readonly all: Counts;
  /** The called tools by full name, such as `coordination.create_task`, each with the minute of its last call. */
  readonly tools: ReadonlyMap<string, Counts & { readonly lastUsed: Date }>;
}

export interface AuditFilter {
  /** Either entries of an owner (`calledIn`: only of calls in this workspace), or changes of a workspace's items. */
  readonly whose:
    | { readonly ownerUid: string; readonly calledIn?: string | undefined }
    | { readonly workspace: string };
  readonly narrowed?:
    | { readonly agentIds: readonly string[] }
    | { readonly runId: string }
    /** Key of an item, as returned by `itemKey`. */
    | { readonly thing: string }
    | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly notUndone?: true;
}

export interface AuditLogQueries {
  find(id: string): Promise<Versioned<AuditEntry> | undefined>;
  /** Returns the matching entries, newest first. */
  list(trailFilter: AuditFilter, page: PageRequest): Promise<ListPage<AuditEntry>>;
}

export interface MetricsReader {
  /** Returns the counts of calls from one minute to another, both included. */
  between(from: Date, to: Date): Promise<CallsBetween>;
}

export interface SweepRecord {
  read(): Promise<SweepState>;
  /** @param outage undefined when the recovery period after an outage is over */
  saveOutage(outage: SweepState['outage'] | undefined): Promise<void>;
  saveBehind(behind: SweepState['behind']): Promise<void>;
}

export interface SkillQueries {
  /** Returns capabilities by name. For several words, only 1,000 matches of the longest word are searched. */
  find(
    query: SkillFilter,
    offset: number,
    limit: number,
  ): Promise<{ readonly skills: readonly OfferedSkill[]; readonly total: number }>;
}

export interface SystemPorts extends GitHubPorts {
  readonly store: Store<GitHubChange> & {
    /** Returns how many changes of a kind this instance has committed; commits with unknown outcome count too. */
    committed(kind: keyof AgentChanges | 'replaceTask'): number;
  };
  readonly skills: SkillQueries;
  readonly metricsReader: MetricsReader;
  readonly probes: Probes;
  readonly sweepRecord: SweepRecord;
  readonly unreadable: UnreadableDocuments;
}

export interface SkillFilter {
  readonly workspace: string;
  /** Category to match. Case and accents are ignored. */
  readonly category?: string | undefined;
  /** Prefixes of words in the name, normalized as in kernel/textSearch.ts. */
  readonly words: readonly string[];
  readonly includeDeprecated: boolean;
}

/** Functions that send a small request to a service, and reject if the service does not respond. */
export type Probes = Readonly<Record<'firestore' | 'realtimeDatabase', () => Promise<void>>>;
