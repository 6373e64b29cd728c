/** What the state of the whole system is read from. */
import type { AgentChanges } from '../agents/agent.ts';
import type { GitHubPorts } from '../github/ports.ts';
import type { MetricsReader } from '../metrics/metrics.ts';
import type { Store } from '../store.ts';
import type { SweepRecord } from '../sweep/record.ts';
import type { UnreadableDocuments } from '../unreadable.ts';
import type { SkillReader } from './readers.ts';

/** Each asks its service something small, and rejects where it is not answered. */
export interface Probes {
  firestore(): Promise<void>;
  realtimeDatabase(): Promise<void>;
}

export interface CommittedChanges {
  /** Counts the changes of a kind that commits of this instance may have brought about. */
  committed(kind: keyof AgentChanges): number;
}

export interface SystemPorts extends GitHubPorts {
  readonly store: Store & CommittedChanges;
  readonly skills: SkillReader;
  readonly metricsReader: MetricsReader;
  readonly probes: Probes;
  readonly sweepRecord: SweepRecord;
  readonly unreadable: UnreadableDocuments;
}
