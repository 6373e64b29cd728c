/** Callers as authentication makes them. */
import type { PersonRoles, Principal } from '../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../functions/src/identity/rules/role.ts';

/** Somebody whom the deployment gives a role, and a member of the workspace where one is named. */
export function rolesOf(role: Role | undefined, workspace?: string): PersonRoles {
  const given = role === undefined ? {} : { role };
  if (workspace === undefined || role === undefined) return { ...given, workspaces: {}, access: {} };
  const member = role === 'admin' ? 'leader' : role;
  return { ...given, workspaces: { [workspace]: member }, access: { [workspace]: 'private' } };
}

export function personOf(uid: string, role: Role | undefined, workspace?: string): Principal {
  return { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner: rolesOf(role, workspace) };
}

/** An agent whose owner bounds it nowhere: only its own role does. */
export function agentOf(agentId: string, ownerUid: string, maxRole: Role): Principal {
  return {
    uid: `agent:${agentId}`,
    kind: 'agent',
    agent_id: agentId,
    owner_uid: ownerUid,
    maxRole,
    owner: { role: 'admin', workspaces: {}, access: {} },
  };
}

/** Takes every credential for the caller's. */
export function authenticatorOf(principal: Principal) {
  return { authenticate: async () => principal, authenticateAnew: async () => principal };
}

/** Somebody with the same role wherever it is asked. */
export function everywhere(role: Role) {
  return { workspace: role, owner: role, anyone: role };
}
