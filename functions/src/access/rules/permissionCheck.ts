/** Decides who may use a tool or resource; access.explain returns the decision. Source: docs/semantics.md#permissions. */
import { accessOf, noRoleIn, type Principal, rolesOf, type Scope } from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { LooseningError } from '../../kernel/loosening.ts';

export interface RequiredPermission {
  readonly toolset: string;
  /** Name of the tool or resource in the caller's request. */
  readonly what: string;
  readonly role: Role;
  /** Role that agents need; absent if it equals the role for people. */
  readonly agentRole?: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
  /** Whether credentials that are restricted to other toolsets may call the tool, too. */
  readonly openToAll?: boolean | undefined;
}

export interface PermissionCheckPorts {
  readonly authenticator: {
    authenticate(credential: string): Promise<Principal>;
    reauthenticate(credential: string): Promise<Principal>;
  };
}

/** Checks the permission of a call, with the caller's current roles if needed. @throws MusterError FORBIDDEN */
export async function checkPermission<
  Request extends { readonly principal: Principal; readonly workspace: string; readonly credential: string },
>({ authenticator }: PermissionCheckPorts, request: Request, need: RequiredPermission): Promise<Request> {
  const { principal, workspace, credential } = request;
  const isHidden = need.scope === 'workspace' && accessOf(principal.owner.access, workspace) === undefined;
  if (permissionError(principal, workspace, need) === undefined && !isHidden) return request;
  const now = await authenticator.reauthenticate(credential);
  requirePermission(now, workspace, need);
  return { ...request, principal: now };
}

/** @throws MusterError FORBIDDEN */
export function requirePermission(principal: Principal, workspace: string, need: RequiredPermission): void {
  const refusal = permissionError(principal, workspace, need);
  if (refusal !== undefined) throw refusal;
}

/** Returns whether the principal's credential includes the toolset. */
export function canUseToolset({ toolsets }: Pick<Principal, 'toolsets'>, toolset: string): boolean {
  return toolsets === undefined || toolsets.includes(toolset);
}

/** Returns the minimum role for the caller, which may differ for people and agents. */
export function requiredRole(
  { role, agentRole = role }: Pick<RequiredPermission, 'role' | 'agentRole'>,
  kind: Principal['kind'],
): Role {
  return kind === 'agent' ? agentRole : role;
}

/** Returns the error if a call is refused. The error does not reveal whether a workspace exists. */
export function permissionError(
  principal: Principal,
  workspace: string,
  need: RequiredPermission,
): MusterError | undefined {
  const { toolset, what, scope, writes } = need;
  const min = requiredRole(need, principal.kind);
  if (!need.openToAll && !canUseToolset(principal, toolset))
    return forbidden('TOOLSET_NOT_ALLOWED', `Your credential does not include the toolset ${toolset}.`, {
      suggestion: `It includes: ${principal.toolsets?.join(', ') || 'none'}. Ask a leader for a credential that includes ${toolset}.`,
    });
  if (principal.readonly && writes)
    return forbidden('READ_ONLY', `Your credential is read-only, but ${what} changes data.`, {
      suggestion: 'Ask the issuer of your credential for write access.',
    });
  const role = rolesOf(principal, workspace)[scope];
  if (role === undefined) return scope === 'workspace' ? noRoleIn(workspace, principal.held_to) : noRole();
  if (hasRole(role, min)) return undefined;
  const where = scope === 'workspace' ? ` in the workspace "${workspace}"` : '';
  return forbidden('ROLE_TOO_WEAK', `${what} requires the role ${min}; yours is ${role}${where}.`, {
    suggestion: `Use an agent, person or credential with the role ${min}. access.explain shows who can grant it.`,
  });
}

function noRole(): MusterError {
  return forbidden('NO_ROLE', 'You have no role in this deployment yet.', {
    suggestion: 'Ask a workspace leader for an invitation, or the operator for a role. access.whoami lists your roles.',
  });
}

function forbidden(reason: string, message: string, details: { readonly suggestion: string }): MusterError {
  return new MusterError('FORBIDDEN', message, { reason, ...details });
}

// Calls that a workspace requires approval for. Source: docs/decisions/0033-asking-people.md.

export interface ApprovableCall {
  readonly principal: Principal;
  readonly workspace: string;
  /** Full name of the tool: toolset, dot, tool. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  readonly maxUsd: number | undefined;
}

export interface Approvals {
  /**
   * @returns undefined if the call may run; the call's response if the call was approved and has run already
   * @throws MusterError APPROVAL_REQUIRED while the approval is missing; FORBIDDEN if declined; the call's own error
   */
  requireApproval(call: ApprovableCall): Promise<JsonObject | undefined>;
  /** Like `requireApproval`, for a call that loosens a limit. @throws MusterError FORBIDDEN if no one can approve */
  requireLooseningApproval(call: ApprovableCall, refused: LooseningError): Promise<JsonObject>;
}
