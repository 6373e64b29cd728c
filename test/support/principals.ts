/** Authenticated callers. */
import type { PersonRoles, Principal } from '../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../functions/src/identity/rules/role.ts';

/** Roles of a person in the deployment and, if given, as a member of a workspace. */
export function rolesOf(role: Role | undefined, workspace?: string): PersonRoles {
  const given = role === undefined ? {} : { role };
  if (workspace === undefined || role === undefined) return { ...given, workspaces: {}, access: {} };
  const member = role === 'admin' ? 'leader' : role;
  return { ...given, workspaces: { [workspace]: member }, access: { [workspace]: 'private' } };
}

export function personOf(uid: string, role: Role | undefined, workspace?: string): Principal {
  return { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner: rolesOf(role, workspace) };
}

/** An agent that is limited only by its own role, not by its owner's. */
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

/** Accepts every credential as the caller's. */
export function authenticatorOf(principal: Principal) {
  return { authenticate: async () => principal, reauthenticate: async () => principal };
}

/** One role in the workspace, as an owner and in the deployment. */
export function everywhere(role: Role) {
  return { workspace: role, owner: role, anyone: role };
}
