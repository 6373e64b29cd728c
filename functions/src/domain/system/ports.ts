/** What the state of the whole system is read from. */
import type { AgentChanges } from '../agents/agent.ts';
import type { GitHubPorts } from '../github/ports.ts';
import type { MetricsReader } from '../metrics/recentCalls.ts';
import type { Store } from '../store.ts';
import type { SweepRecord } from '../sweep/record.ts';
import type { UnreadableDocuments } from '../unreadable.ts';
import type { SkillReader } from './readers.ts';
import type { Probes } from './systemStatus.ts';

export interface SystemPorts extends GitHubPorts {
  /** Counts the changes of a kind that commits of this instance may have brought about. */
  readonly store: Store & { committed(kind: keyof AgentChanges): number };
  readonly skills: SkillReader;
  readonly metricsReader: MetricsReader;
  readonly probes: Probes;
  readonly sweepRecord: SweepRecord;
  readonly unreadable: UnreadableDocuments;
}
