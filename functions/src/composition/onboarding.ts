/** Composes what newcomers are told, and what the system tools ask. */
import { VERSION } from '../config.ts';
import { probeFirestore } from '../kernel/firestore/client.ts';
import { FirestoreSweepRecord } from '../kernel/firestore/sweepRecord.ts';
import { probeRealtimeDatabase, realtimeDatabase } from '../kernel/realtime/database.ts';
import type { Services } from '../mcp/callContext.ts';
import { type OnboardingPorts, OnboardingService } from '../toolsets/onboarding/rules/onboarding.ts';
import { FirestoreOnboardingFacts } from '../toolsets/onboarding/store/onboardingFacts.ts';
import { AgentOverview } from '../toolsets/system/rules/agents.ts';
import { RecentCalls } from '../toolsets/system/rules/metrics.ts';
import type { SystemPorts } from '../toolsets/system/rules/ports.ts';
import { TaskOverview } from '../toolsets/system/rules/queue.ts';
import { findSkillsWith } from '../toolsets/system/rules/skills.ts';
import { SystemStatus } from '../toolsets/system/rules/status.ts';
import { DatabaseMetricsReader, ProcessGauge } from '../toolsets/system/store/metrics.ts';
import { FirestoreSkillReader } from '../toolsets/system/store/skills.ts';
import type { Foundation } from './foundation.ts';

export function onboardingPorts({ database, documents }: Foundation) {
  return { onboardingFacts: new FirestoreOnboardingFacts(database, documents) };
}

export function onboardingServices(ports: OnboardingPorts, { registration }: Pick<Services, 'registration'>) {
  return { onboarding: new OnboardingService(ports, registration) };
}

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

export function systemServices(ports: SystemPorts) {
  const tasks = new TaskOverview(ports);
  return {
    system: {
      overview: new AgentOverview(ports),
      tasks,
      findSkills: findSkillsWith(ports.skills),
      status: new SystemStatus(ports, tasks),
      recentCalls: new RecentCalls(ports),
      gauge: new ProcessGauge(),
      version: VERSION,
    },
  };
}
