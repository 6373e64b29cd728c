import type { Change } from '../store.ts';
import type { Agent, MemberCount, RegistryCount } from './agent.ts';

/** Counts an agent in the registry and in the workspaces whose coordination it has a part in. */
export function countedAgent(before: Agent | undefined, after: Agent): Change[] {
  return [...countedInRegistry(before, after), ...countedMember(before, after)];
}

function countedInRegistry(before: Agent | undefined, after: Agent): Change[] {
  const [was, is] = [registryCount(before), registryCount(after)];
  const by = { total: is.total - was.total, active: is.active - was.active };
  return by.total !== 0 || by.active !== 0 ? [{ kind: 'countAgents', by }] : [];
}

function registryCount(agent: Agent | undefined): RegistryCount {
  return { total: agent === undefined ? 0 : 1, active: agent?.status === 'active' ? 1 : 0 };
}

function countedMember(before: Agent | undefined, after: Agent): Change[] {
  const workspaces = new Set([before?.workspace, after.workspace]);
  return [...workspaces].flatMap((workspace) => {
    if (workspace === undefined) return [];
    const [was, is] = [memberCount(before, workspace), memberCount(after, workspace)];
    const by = {
      total: is.total - was.total,
      leaders: is.leaders - was.leaders,
      active: is.active - was.active,
    };
    const changed = by.total !== 0 || by.leaders !== 0 || by.active !== 0;
    return changed ? [{ kind: 'countMembers', workspace, by } as const] : [];
  });
}

function memberCount(agent: Agent | undefined, workspace: string): MemberCount {
  if (agent?.coordinationRole === undefined || agent.workspace !== workspace) {
    return { total: 0, leaders: 0, active: 0 };
  }
  return {
    total: 1,
    leaders: agent.coordinationRole === 'leader' ? 1 : 0,
    active: agent.status === 'active' ? 1 : 0,
  };
}
