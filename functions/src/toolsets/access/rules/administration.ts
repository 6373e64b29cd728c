/** Who may administer a workspace: its leaders, and admins of the deployment. The tools and access.explain go by the same. */
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
import { hasRole, type Role, weaker } from '../../../identity/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';

/** Whether the caller administers the workspace as an admin, whatever its role there. */
export function administers(principal: Principal, workspace: string): boolean {
  const { held_to, ...free } = principal;
  return isAdmin(held_to === workspace ? free : principal);
}

/** The role that the deployment gives the caller: what it may do with all workspaces, or for new ones. */
export function deploymentRole({ owner, maxRole }: Principal): Role | undefined {
  return owner.role && weaker(maxRole, owner.role);
}

/** Why the caller may not, where it takes the role `least` in the workspace, or an admin. */
export function refusalIn(principal: Principal, workspace: string, least: Role): MusterError | undefined {
  const isThere = accessOf(principal.owner.access, workspace) !== undefined;
  if (administers(principal, workspace)) return isThere ? undefined : notThere(workspace);
  const role = isThere ? roleIn(principal, workspace) : undefined;
  if (role === undefined) return noRoleIn(workspace);
  if (hasRole(role, least)) return undefined;
  return tooWeak(
    `This takes the role ${least} in the workspace "${workspace}", or an admin; yours is ${role}.`,
  );
}

/** Why the caller may not do what is a leader's of the deployment: create workspaces, and open them to everybody. */
export function deploymentRefusal(principal: Principal): MusterError | undefined {
  const { held_to } = principal;
  if (held_to !== undefined)
    return tooWeak(
      `Your credential is held to the workspace "${held_to}", and this concerns the deployment.`,
      OF_DEPLOYMENT,
    );
  const role = deploymentRole(principal);
  if (role !== undefined && hasRole(role, 'leader')) return undefined;
  return tooWeak(
    `This takes the role leader or admin in the whole deployment; ${role === undefined ? 'you have none there' : `yours there is ${role}`}.`,
    OF_DEPLOYMENT,
  );
}

/** The caller as it is now, where what was known would not do: it may have just made the workspace. @throws as `refusal` says */
export async function authorised(
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

/** The reason where it is a role of the deployment that is wanting. */
export const OF_DEPLOYMENT = 'DEPLOYMENT_ROLE_TOO_WEAK';

function tooWeak(message: string, reason = 'ROLE_TOO_WEAK'): MusterError {
  return new MusterError('FORBIDDEN', message, {
    reason,
    suggestion: 'access.whoami shows your roles, and access.explain who can give you another.',
  });
}

/** Said to admins alone, who may know. */
function notThere(workspace: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no workspace "${workspace}".`, {
    field: 'workspace',
    value: workspace,
    suggestion: 'access.whoami lists the workspaces; access.create_workspace makes one.',
  });
}

/** What is known of a tool here. */
export interface NeededTool {
  readonly toolset: string;
  readonly fullName: string;
  readonly role: Role;
  readonly agentRole?: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
}

/** A role that counts, and where it comes from. */
export interface Held {
  readonly role: Role;
  readonly from?: RoleSource;
}

/** The tools that administer the workspace that they are given. An admin need not be in it. */
const ADMINISTERING: ReadonlyMap<string, Role> = new Map([
  ['access.list_members', 'viewer'],
  ['access.invite', 'leader'],
  ['access.set_member', 'leader'],
  ['access.remove_member', 'leader'],
  ['access.update_workspace', 'leader'],
]);

/** Whether the tool asks for a role in the workspace, whatever the gate does. */
export function workspaceAsked(fullName: string): boolean {
  return ADMINISTERING.has(fullName);
}

/** Why a tool that the gate lets through is refused all the same. */
export function refusalInside(
  principal: Principal,
  workspace: string,
  fullName: string,
): MusterError | undefined {
  if (fullName === 'access.create_workspace') return deploymentRefusal(principal);
  const least = ADMINISTERING.get(fullName);
  return least && refusalIn(principal, workspace, least);
}

/** The caller's role where the tool needs one; what a credential that only reads lacks is said apart. */
export function heldRole(
  principal: Principal,
  workspace: string,
  { scope, fullName }: NeededTool,
): Held | undefined {
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
