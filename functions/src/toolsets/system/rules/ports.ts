/** What the state of the whole system is read from. */
import type { AgentChanges } from '../../../access/rules/agent.ts';
import type { MetricsReader } from '../../../access/rules/callMetrics.ts';
import type { Store } from '../../../kernel/commit.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import type { SweepRecord } from '../../../kernel/sweep.ts';
import type { UnreadableDocuments } from '../../../kernel/unreadable.ts';
import type { GitHubPorts } from '../../github/index.ts';
import type { FirestoreSkillReader } from '../store/skills.ts';

/** Each asks its service something small, and rejects where it is not answered. */
export interface Probes {
  firestore(): Promise<void>;
  realtimeDatabase(): Promise<void>;
}

interface CommittedChanges {
  /** Counts the changes of a kind that commits of this instance may have brought about. */
  committed(kind: keyof AgentChanges): number;
}

export interface SystemPorts extends GitHubPorts {
  readonly store: Store & CommittedChanges;
  readonly skills: PortOf<FirestoreSkillReader>;
  readonly metricsReader: MetricsReader;
  readonly probes: Probes;
  readonly sweepRecord: SweepRecord;
  readonly unreadable: UnreadableDocuments;
}
