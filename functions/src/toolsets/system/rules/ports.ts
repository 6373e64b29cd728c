/** What the rules of system read by, and what its store implements. */

import type { AgentChanges, OfferedSkill } from '../../../agents/rules/agent.ts';
import type { Store, Versioned } from '../../../kernel/commit.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { UnreadableDocuments } from '../../../kernel/ports.ts';
import type { SweepState } from '../../../kernel/sweep.ts';
import type { TrailEntry } from '../../../kernel/trail.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import type { GitHubChange, GitHubPorts } from '../../github/index.ts';

export interface CallsBetween {
  readonly all: Counts;
  /** By full name, `coordination.create_task`; only those that were called, and the last minute in which they were. */
  readonly tools: ReadonlyMap<string, Counts & { readonly lastUsed: Date }>;
}

export interface FoundSkills {
  readonly skills: readonly OfferedSkill[];
  readonly total: number;
}

/** Whose entries, and which of them: of one agent, or about one thing. */
export interface TrailFilter {
  /** Those on behalf of a person, from calls in one workspace if named; or those about what belongs to a workspace. */
  readonly whose:
    | { readonly ownerUid: string; readonly calledIn?: string | undefined }
    | { readonly workspace: string };
  readonly narrowed?:
    | { readonly agentId: string }
    | { readonly runId: string }
    /** As thingKey names it. */
    | { readonly thing: string }
    | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Only those that were not taken back. */
  readonly stands?: true;
}

export interface TrailQueries {
  find(id: string): Promise<Versioned<TrailEntry> | undefined>;
  /** Newest first. */
  list(trailFilter: TrailFilter, page: Page): Promise<Slice<TrailEntry>>;
}

export interface MetricsReader {
  /** The calls of these minutes, the first and the last included. */
  between(from: Date, to: Date): Promise<CallsBetween>;
}

export interface SweepRecord {
  read(): Promise<SweepState>;
  /** @param outage absent: it is over, and long enough ago */
  saveOutage(outage: SweepState['outage'] | undefined): Promise<void>;
  saveBehind(behind: SweepState['behind']): Promise<void>;
}

export interface SkillQueries {
  /** Capabilities by name. Of more than 1,000 that begin with the longest word, the first are looked through. */
  find(query: SkillFilter, offset: number, limit: number): Promise<FoundSkills>;
}

/** The state of the whole system is read from these. */
export interface SystemPorts extends GitHubPorts {
  readonly store: Store<GitHubChange> & {
    /** Counts the changes of a kind that commits of this instance may have brought about. */
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
  /** Without regard to case and accents. */
  readonly category?: string | undefined;
  /** Each must begin a word of the name; as search.ts writes them. */
  readonly words: readonly string[];
  readonly includeDeprecated: boolean;
}

/** Each asks its service something small, and rejects where it is not answered. */
export type Probes = Readonly<Record<'firestore' | 'realtimeDatabase', () => Promise<void>>>;
