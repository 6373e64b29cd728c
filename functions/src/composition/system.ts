/** Composes what the system tools ask. */
import { realtimeDatabase } from '../adapters/admin/realtimeDatabase.ts';
import { DatabaseMetricsReader } from '../adapters/database/metricsReader.ts';
import { probeRealtimeDatabase } from '../adapters/database/probe.ts';
import { probeFirestore } from '../adapters/firestore/probe.ts';
import { FirestoreSkillReader } from '../adapters/firestore/skillReader.ts';
import { FirestoreSweepRecord } from '../adapters/firestore/sweepRecord.ts';
import { ProcessGauge } from '../adapters/platform/gauge.ts';
import { RecentCalls } from '../domain/metrics/recentCalls.ts';
import { AgentOverview } from '../domain/system/agentOverview.ts';
import type { SystemPorts } from '../domain/system/ports.ts';
import type { SystemServices } from '../domain/system/services.ts';
import { SkillRegistry } from '../domain/system/skillRegistry.ts';
import { SystemStatus } from '../domain/system/systemStatus.ts';
import { TaskOverview } from '../domain/system/taskOverview.ts';
import { VERSION } from '../version.ts';
import type { Foundation } from './foundation.ts';

export function systemPorts({ database, documents, unreadable, log }: Foundation) {
  return {
    skills: new FirestoreSkillReader(database, documents),
    metricsReader: new DatabaseMetricsReader(realtimeDatabase, unreadable),
    probes: {
      firestore: () => probeFirestore(database),
      realtimeDatabase: () => probeRealtimeDatabase(realtimeDatabase),
    },
    sweepRecord: new FirestoreSweepRecord(database, 'main', log),
  };
}

export function systemServices(ports: SystemPorts): { readonly system: SystemServices } {
  const tasks = new TaskOverview(ports);
  return {
    system: {
      overview: new AgentOverview(ports),
      tasks,
      skills: new SkillRegistry(ports.skills),
      status: new SystemStatus(ports, tasks),
      recentCalls: new RecentCalls(ports),
      gauge: new ProcessGauge(),
      version: VERSION,
    },
  };
}
