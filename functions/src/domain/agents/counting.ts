import type { Change, MemberCount } from '../store.ts';
import type { Agent } from './agent.ts';

/** Moves an agent between the counts of the workspaces whose coordination it has a part in. */
export function countedMember(before: Agent | undefined, after: Agent): Change[] {
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
