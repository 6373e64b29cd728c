/** Administration of workspaces, for their leaders and for admins. Shared by the tools and access.explain. */
import { type RoleSource, sourcedRole } from '../../../access/rules/decision.ts';
import type { AccessPorts } from '../../../access/rules/ports.ts';
import {
  accessOf,
  isAdmin,
  noRoleIn,
  ownRole,
  type Principal,
  roleIn,
  type Scope,
} from '../../../identity/rules/principal.ts';
import { hasRole, type Role, weakerOf } from '../../../identity/rules/role.ts';
import { MusterError, notFound } from '../../../kernel/errors.ts';

/** Returns whether the caller can administer this workspace as an admin of the deployment. */
export function administers(principal: Principal, workspace: string): boolean {
  const { held_to, ...free } = principal;
  return isAdmin(held_to === workspace ? free : principal);
}

/** Returns the caller's role in the deployment. It applies in open workspaces and when creating workspaces. */
export function deploymentRole({ owner, maxRole }: Principal): Role | undefined {
  return owner.role && weakerOf(maxRole, owner.role);
}

/** Returns the error for callers who are not admins and have a weaker role than `min` in the workspace. */
export function workspaceError(principal: Principal, workspace: string, min: Role): MusterError | undefined {
  const isThere = accessOf(principal.owner.access, workspace) !== undefined;
  if (administers(principal, workspace)) {
    const suggestion = 'access.whoami lists your workspaces; access.create_workspace creates one.';
    // Only admins get this error, because other callers must not learn which workspaces exist.
    return isThere ? undefined : notFound('Workspace', { workspace }, suggestion);
  }
  const role = isThere ? roleIn(principal, workspace) : undefined;
  if (role === undefined) return noRoleIn(workspace);
  if (hasRole(role, min)) return undefined;
  return roleTooLow(
    `This requires the role ${min} in the workspace "${workspace}", or admin in the deployment; your role in the workspace is ${role}.`,
  );
}

/** Returns an error unless the caller may create and open workspaces, as leaders and admins of the deployment may. */
export function deploymentError(principal: Principal): MusterError | undefined {
  const { held_to } = principal;
  if (held_to !== undefined)
    return roleTooLow(
      `Your credential is restricted to the workspace "${held_to}", but this concerns the whole deployment.`,
      DEPLOYMENT_SCOPE,
    );
  const role = deploymentRole(principal);
  if (role !== undefined && hasRole(role, 'leader')) return undefined;
  return roleTooLow(
    `This requires the role leader or admin in the deployment; ${role === undefined ? 'you have no role there' : `your role there is ${role}`}.`,
    DEPLOYMENT_SCOPE,
  );
}

/** Returns the principal if allowed. If its cached roles are refused, reads its roles again. @throws the refusal */
export async function requireAllowed(
  { roles }: Pick<AccessPorts, 'roles'>,
  principal: Principal,
  refusal: (principal: Principal) => MusterError | undefined,
): Promise<Principal> {
  if (refusal(principal) === undefined) return principal;
  const now = { ...principal, owner: await roles.of(principal.owner_uid) };
  const why = refusal(now);
  if (why !== undefined) throw why;
  return now;
}

export const DEPLOYMENT_SCOPE = 'DEPLOYMENT_ROLE_TOO_WEAK';

function roleTooLow(message: string, reason = 'ROLE_TOO_WEAK'): MusterError {
  return new MusterError('FORBIDDEN', message, {
    reason,
    suggestion: 'access.whoami shows your roles; access.explain shows who can change them.',
  });
}

export interface CheckedTool {
  readonly toolset: string;
  readonly fullName: string;
  readonly role: Role;
  readonly agentRole?: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
}

export interface HeldRole {
  readonly role: Role;
  readonly from?: RoleSource;
}

/** Tools that administer the workspace in their argument, and the minimum role there. Admins need not be members. */
const ADMINISTERING: ReadonlyMap<string, Role> = new Map([
  ['access.list_members', 'viewer'],
  ['access.invite', 'leader'],
  ['access.withdraw_invitation', 'leader'],
  ['access.set_member', 'leader'],
  ['access.remove_member', 'leader'],
  ['access.update_workspace', 'leader'],
]);

/** Returns whether the tool, after the permission check, also checks the role in the workspace it administers. */
export function workspaceAsked(fullName: string): boolean {
  return ADMINISTERING.has(fullName);
}

/** Returns the error with which a tool refuses a caller that the permission check has admitted. */
export function insideError(principal: Principal, workspace: string, fullName: string): MusterError | undefined {
  if (fullName === 'access.create_workspace') return deploymentError(principal);
  const min = ADMINISTERING.get(fullName);
  return min && workspaceError(principal, workspace, min);
}

/** Returns the caller's role that counts for the tool, as if the credential were not read-only. */
export function heldRole(
  principal: Principal,
  workspace: string,
  { scope, fullName }: CheckedTool,
): HeldRole | undefined {
  const isThere = accessOf(principal.owner.access, workspace) !== undefined;
  if (workspaceAsked(fullName) && !isThere) return undefined;
  if (scope === 'workspace' || workspaceAsked(fullName)) {
    const { readonly: _readonly, ...writing } = principal;
    const { role, from } = sourcedRole(writing, workspace);
    return role && { role, from };
  }
  const role = scope === 'owner' ? ownRole(principal) : undefined;
  return role && { role };
}
