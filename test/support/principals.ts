/** Builders of authenticated callers. */
import type { PersonRoles, Principal } from '../../functions/src/identity/rules/principal.ts';
import type { Role } from '../../functions/src/identity/rules/role.ts';

/** Returns a person's roles in the deployment and, if a workspace is given, as a member of the workspace. */
export function rolesOf(role: Role | undefined, workspace?: string): PersonRoles {
  const given = role === undefined ? {} : { role };
  if (workspace === undefined || role === undefined) return { ...given, workspaces: {}, access: {} };
  const member = role === 'admin' ? 'leader' : role;
  return { ...given, workspaces: { [workspace]: member }, access: { [workspace]: 'private' } };
}

export function personOf(uid: string, role: Role | undefined, workspace?: string): Principal {
  return { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner: rolesOf(role, workspace) };
}

/** Returns an agent that is limited only by its own role, because its owner is an admin. */
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

/** Returns an authenticator that accepts every credential as that of this caller. */
export function authenticatorOf(principal: Principal) {
  return { authenticate: async () => principal, reauthenticate: async () => principal };
}

/** Returns the rights of a caller who has this role in every workspace. */
export const everywhere = (role: Role) => ({ workspace: role, owner: role, anyone: role });
