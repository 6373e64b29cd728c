/** Permission check of tools and resources, quoted by access.explain. Source: docs/semantics.md#permissions. */
import { accessOf, noRoleIn, type Principal, rolesOf, type Scope } from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { LooseningError } from '../../kernel/loosening.ts';

/** The called tool or resource, and its requirements. */
export interface RequiredPermission {
  readonly toolset: string;
  /** Name of the tool or resource, as the caller uses it. */
  readonly what: string;
  readonly role: Role;
  /** The role that agents need, if it differs. */
  readonly agentRole?: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
  /** Whether credentials that are restricted to other toolsets may call it as well. */
  readonly openToAll?: boolean | undefined;
}

/** The parts of a request that are checked. */
interface CheckedRequest {
  readonly principal: Principal;
  readonly workspace: string;
  readonly credential: string;
}

export interface PermissionCheckPorts {
  readonly authenticator: {
    authenticate(credential: string): Promise<Principal>;
    reauthenticate(credential: string): Promise<Principal>;
  };
}

/**
 * Authorizes a call. If the cached caller lacks access, or the workspace is not known to exist, the caller is looked
 * up again: roles granted a moment ago count, and so does a workspace that another caller has just created.
 * @throws MusterError FORBIDDEN
 */
export async function checkPermission<Request extends CheckedRequest>(
  { authenticator }: PermissionCheckPorts,
  request: Request,
  need: RequiredPermission,
): Promise<Request> {
  const { principal, workspace, credential } = request;
  if (permissionError(principal, workspace, need) === undefined && !isHiddenWorkspace(principal, workspace, need))
    return request;
  const now = await authenticator.reauthenticate(credential);
  requirePermission(now, workspace, need);
  return { ...request, principal: now };
}

function isHiddenWorkspace({ owner }: Principal, workspace: string, { scope }: RequiredPermission): boolean {
  return scope === 'workspace' && accessOf(owner.access, workspace) === undefined;
}

/** @throws MusterError FORBIDDEN */
export function requirePermission(principal: Principal, workspace: string, need: RequiredPermission): void {
  const refusal = permissionError(principal, workspace, need);
  if (refusal !== undefined) throw refusal;
}

/** Whether the principal may use the toolset at all. */
export function canUseToolset({ toolsets }: Pick<Principal, 'toolsets'>, toolset: string): boolean {
  return toolsets === undefined || toolsets.includes(toolset);
}

/** Returns the minimum role for a person or an agent. */
export function requiredRole(
  { role, agentRole = role }: Pick<RequiredPermission, 'role' | 'agentRole'>,
  kind: Principal['kind'],
): Role {
  return kind === 'agent' ? agentRole : role;
}

/** Returns why a call is refused. The error does not reveal whether a workspace exists. */
export function permissionError(
  principal: Principal,
  workspace: string,
  need: RequiredPermission,
): MusterError | undefined {
  const { toolset, what, scope, writes } = need;
  const least = requiredRole(need, principal.kind);
  if (!need.openToAll && !canUseToolset(principal, toolset)) {
    return forbidden('TOOLSET_NOT_ALLOWED', `Your credential does not include the toolset ${toolset}.`, {
      suggestion: `It includes: ${principal.toolsets?.join(', ') || 'none'}. Ask a leader for a credential with ${toolset}.`,
    });
  }
  if (principal.readonly && writes) {
    return forbidden('READ_ONLY', `Your credential is read-only, but ${what} writes.`, {
      suggestion: 'Ask the issuer of the credential for one with write access.',
    });
  }
  const role = rolesOf(principal, workspace)[scope];
  if (role === undefined) return scope === 'workspace' ? noRoleIn(workspace, principal.held_to) : noRole();
  if (hasRole(role, least)) return undefined;
  const where = scope === 'workspace' ? ` in the workspace "${workspace}"` : '';
  return forbidden('ROLE_TOO_WEAK', `${what} requires the role ${least}; yours is ${role}${where}.`, {
    suggestion: `Use an agent, person or credential with the role ${least}. access.explain shows who can grant it.`,
  });
}

function noRole(): MusterError {
  return forbidden('NO_ROLE', 'You have no role here yet.', {
    suggestion: 'Ask a workspace leader for an invitation, or the operator for a role. access.whoami lists your roles.',
  });
}

function forbidden(reason: string, message: string, details: { readonly suggestion: string }): MusterError {
  return new MusterError('FORBIDDEN', message, { reason, ...details });
}

// Calls that a workspace requires approval for. Source: docs/decisions/0033-asking-people.md.

/** Call that may require approval. */
export interface ApprovableCall {
  readonly principal: Principal;
  readonly workspace: string;
  /** Full name of the tool. */
  readonly tool: string;
  /** Validated arguments. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  readonly maxUsd: number | undefined;
}

/** Approval of calls, as a workspace's approval rules require it. */
export interface Approvals {
  /**
   * Returns undefined if the call may run; its response if it was approved and has already run
   * @throws MusterError APPROVAL_REQUIRED while it waits; FORBIDDEN if it was declined; the call's own error
   */
  requireApproval(call: ApprovableCall): Promise<JsonObject | undefined>;
  /** Like `requireApproval`, for an agent's loosening call. @throws MusterError FORBIDDEN if its decider has no account */
  requireLooseningApproval(call: ApprovableCall, refused: LooseningError): Promise<JsonObject>;
}
