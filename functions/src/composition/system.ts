/** Composes what the system tools ask. */
import type { FirestoreSkillReader } from '../adapters/firestore/skillReader.ts';
import { ProcessGauge } from '../adapters/platform/gauge.ts';
import { RecentCalls } from '../domain/metrics/recentCalls.ts';
import { AgentOverview } from '../domain/system/agentOverview.ts';
import type { SystemServices } from '../domain/system/services.ts';
import { SkillRegistry } from '../domain/system/skillRegistry.ts';
import { SystemStatus } from '../domain/system/systemStatus.ts';
import { TaskOverview } from '../domain/system/taskOverview.ts';

type SystemPorts = ConstructorParameters<typeof TaskOverview>[0] &
  ConstructorParameters<typeof AgentOverview>[0] &
  ConstructorParameters<typeof RecentCalls>[0] &
  Omit<ConstructorParameters<typeof SystemStatus>[0], 'tasks'> & { readonly skills: FirestoreSkillReader };

export function composeSystem(ports: SystemPorts, version: string): SystemServices {
  const tasks = new TaskOverview(ports);
  return {
    overview: new AgentOverview(ports),
    tasks,
    skills: new SkillRegistry(ports.skills),
    status: new SystemStatus({ ...ports, tasks }),
    recentCalls: new RecentCalls(ports),
    gauge: new ProcessGauge(),
    version,
  };
}
