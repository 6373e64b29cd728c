/** The one gate in front of every tool and resource, which access.explain quotes. Source: docs/semantics.md#who-may-do-what. */
import { accessOf, noRoleIn, type Principal, rolesOf, type Scope } from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import { MusterError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { LooseningError } from '../../kernel/loosening.ts';

/** What is called, and what that needs. */
export interface Need {
  readonly toolset: string;
  /** The tool or resource, as its caller knows it. */
  readonly what: string;
  readonly role: Role;
  /** The role that agents need, where it is another. */
  readonly agentRole?: Role | undefined;
  readonly scope: Scope;
  readonly writes: boolean;
  /** Whether a credential that is restricted to other toolsets may call it, too. */
  readonly openToAll?: boolean | undefined;
}

/** The parts of a request that the gate looks at. */
interface Entrant {
  readonly principal: Principal;
  readonly workspace: string;
  readonly credential: string;
}

export interface GatePorts {
  readonly authenticator: {
    authenticate(credential: string): Promise<Principal>;
    authenticateAnew(credential: string): Promise<Principal>;
  };
}

/**
 * Lets a call through, with the caller as it is now where what was known of it would not do: who was let in a moment
 * ago is in at once, and nobody comes into a workspace that somebody else has opened a moment ago.
 * @throws MusterError FORBIDDEN
 */
export async function admit<Request extends Entrant>(
  { authenticator }: GatePorts,
  request: Request,
  need: Need,
): Promise<Request> {
  const { principal, workspace, credential } = request;
  if (refusalFor(principal, workspace, need) === undefined && !isUnopened(principal, workspace, need))
    return request;
  const now = await authenticator.authenticateAnew(credential);
  authorise(now, workspace, need);
  return { ...request, principal: now };
}

function isUnopened({ owner }: Principal, workspace: string, { scope }: Need): boolean {
  return scope === 'workspace' && accessOf(owner.access, workspace) === undefined;
}

/** @throws MusterError FORBIDDEN */
export function authorise(principal: Principal, workspace: string, need: Need): void {
  const refusal = refusalFor(principal, workspace, need);
  if (refusal !== undefined) throw refusal;
}

/** Whether the principal may use the toolset at all. */
export function mayUse({ toolsets }: Pick<Principal, 'toolsets'>, toolset: string): boolean {
  return toolsets === undefined || toolsets.includes(toolset);
}

/** The weakest role that will do, for somebody of the kind. */
export function roleNeeded(
  { role, agentRole = role }: Pick<Need, 'role' | 'agentRole'>,
  kind: Principal['kind'],
): Role {
  return kind === 'agent' ? agentRole : role;
}

/** Why the caller may not; the same for a workspace that is not there and one that is not theirs. */
export function refusalFor(principal: Principal, workspace: string, need: Need): MusterError | undefined {
  const { toolset, what, scope, writes } = need;
  const least = roleNeeded(need, principal.kind);
  if (!need.openToAll && !mayUse(principal, toolset)) {
    return forbidden('TOOLSET_NOT_ALLOWED', `You may not use the toolset ${toolset}.`, {
      suggestion: `Your toolsets: ${principal.toolsets?.join(', ') || 'none'}. Ask a leader for a credential with ${toolset}.`,
    });
  }
  if (principal.readonly && writes) {
    return forbidden('READ_ONLY', `Your credential may only read, and ${what} writes.`, {
      suggestion: 'Ask whoever made the credential for one that may write.',
    });
  }
  const role = rolesOf(principal, workspace)[scope];
  if (role === undefined) return scope === 'workspace' ? noRoleIn(workspace, principal.held_to) : noRole();
  if (hasRole(role, least)) return undefined;
  const where = scope === 'workspace' ? ` in the workspace "${workspace}"` : '';
  return forbidden('ROLE_TOO_WEAK', `${what} needs the role ${least}; yours is ${role}${where}.`, {
    suggestion: `Ask an agent or a person with the role ${least}, or for a credential with that role. access.explain tells who can give it.`,
  });
}

function noRole(): MusterError {
  return forbidden('NO_ROLE', 'You have no role here yet.', {
    suggestion:
      'Ask for an invitation to a workspace, or whoever runs this deployment for a role. access.whoami shows what you have.',
  });
}

function forbidden(reason: string, message: string, details: { readonly suggestion: string }): MusterError {
  return new MusterError('FORBIDDEN', message, { reason, ...details });
}

// Calls that a workspace wants approved before they are made. Source: docs/decisions/0033-asking-people.md.

/** A call that may have to be approved. */
export interface GatedCall {
  readonly principal: Principal;
  readonly workspace: string;
  /** Its full name. */
  readonly tool: string;
  /** As checked. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | undefined;
  readonly mostUsd: number | undefined;
}

/** The gate of calls that a workspace wants approved. */
export interface Approvals {
  /**
   * @returns undefined where the call may be made; its answer where it was approved and made already
   * @throws MusterError APPROVAL_REQUIRED while it waits; what came of it; FORBIDDEN where it was not approved
   */
  pass(call: GatedCall): Promise<JsonObject | undefined>;
  /** The same for an agent's loosening call. @throws MusterError as `pass`; FORBIDDEN if its decider has no account */
  passLoosening(call: GatedCall, refused: LooseningError): Promise<JsonObject>;
}
