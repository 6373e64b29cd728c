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
  /** Called tools by full name, such as `coordination.create_task`, with the minute of the last call. */
  readonly tools: ReadonlyMap<string, Counts & { readonly lastUsed: Date }>;
}

export interface FoundSkills {
  readonly skills: readonly OfferedSkill[];
  readonly total: number;
}

/** Selects entries by owner or workspace, and optionally by agent, run or item. */
export interface AuditFilter {
  /** Entries on behalf of a person, optionally from calls in one workspace; or entries about a workspace's items. */
  readonly whose:
    | { readonly ownerUid: string; readonly calledIn?: string | undefined }
    | { readonly workspace: string };
  readonly narrowed?:
    | { readonly agentId: string }
    | { readonly runId: string }
    /** A key as returned by `thingKey`. */
    | { readonly thing: string }
    | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Only entries that were not undone. */
  readonly notUndone?: true;
}

export interface AuditLogQueries {
  find(id: string): Promise<Versioned<AuditEntry> | undefined>;
  /** Newest first. */
  list(trailFilter: AuditFilter, page: PageRequest): Promise<ListPage<AuditEntry>>;
}

export interface MetricsReader {
  /** Returns the calls of these minutes, including the first and the last. */
  between(from: Date, to: Date): Promise<CallsBetween>;
}

export interface SweepRecord {
  read(): Promise<SweepState>;
  /** @param outage absent once the recovery period is over */
  saveOutage(outage: SweepState['outage'] | undefined): Promise<void>;
  saveBehind(behind: SweepState['behind']): Promise<void>;
}

export interface SkillQueries {
  /** Returns capabilities by name. Searches only the first 1,000 that start with the longest word. */
  find(query: SkillFilter, offset: number, limit: number): Promise<FoundSkills>;
}

/** Interfaces from which the state of the system is read. */
export interface SystemPorts extends GitHubPorts {
  readonly store: Store<GitHubChange> & {
    /** Returns the number of changes of a kind committed by this instance, including uncertain commits. */
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
  /** Ignores case and accents. */
  readonly category?: string | undefined;
  /** Prefixes of words of the name, folded as in search.ts. */
  readonly words: readonly string[];
  readonly includeDeprecated: boolean;
}

/** Functions that send a small request to a service, and reject if it does not respond. */
export type Probes = Readonly<Record<'firestore' | 'realtimeDatabase', () => Promise<void>>>;
