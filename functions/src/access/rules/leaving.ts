/** Ends the work of people who have lost their role in a workspace. Source: docs/semantics.md#leaving-a-workspace. */
import type { Person } from '../../identity/rules/people.ts';
import type { RolesOfPeople } from '../../identity/rules/ports.ts';
import { type PersonRoles, personsRoleIn } from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { Service, skipUnreadable } from '../../kernel/ports.ts';
import { CACHE_TTL_MS } from './credentialCache.ts';
import type { AccessPorts } from './ports.ts';

export interface LostAccess {
  /** Returns whether the person's tasks and runs in a workspace must end. */
  readonly isOut: (workspace: string) => boolean;
  /** Returns whether the person has no role in a workspace. */
  readonly isRemoved: (workspace: string) => boolean;
}

/** Returns the workspaces to which a person with these roles has no access. */
export function lostAccessOf(roles: PersonRoles): LostAccess {
  return {
    isOut: (workspace) => !canWorkIn(roles, workspace),
    isRemoved: (workspace) => personsRoleIn(roles, workspace) === undefined,
  };
}

/** Numbers of a person's open items in a workspace. Each count stops at a limit. */
export interface OpenWorkCounts {
  readonly codingTasks: number;
  readonly runs: number;
  /** Whether the person has more open items than the limit of the counts. */
  readonly more: boolean;
}

/** Ends one kind of a person's open items. Calls may be repeated, late and concurrent. */
export interface LostAccessHandler {
  /** Ends the person's open items in the workspaces that the person has left. @returns the number of ended items */
  end(uid: string, left: LostAccess): Promise<number>;
}

/** Returns whether a person may have lost a role. Pass undefined if the person has no document. */
export function hasLostAccess(before: Person | undefined, after: Person | undefined): boolean {
  // If no role is stored, the role in the claims of the person's account counts, and it can be any role.
  if (before?.role === undefined ? after?.role !== undefined : isReduced(before.role, after?.role)) return true;
  return Object.entries(before?.workspaces ?? {}).some(([workspace, role]) =>
    isReduced(role, after?.workspaces[workspace]),
  );
}

function isReduced(before: Role | 'none', after: Role | 'none' | undefined): boolean {
  if (before === 'none') return false;
  return after === undefined || after === 'none' || !hasRole(after, before);
}

/** Returns the workspaces that were open and are now private, where deployment roles no longer count. */
export function closedSince(before: PersonRoles['access'], after: PersonRoles['access']): readonly string[] {
  return Object.keys(after).filter((workspace) => before[workspace] === 'open' && after[workspace] === 'private');
}

// Whether owners may still work: the owner of a task or run needs a role in the workspace at each claim and each
// step. Source: docs/semantics.md#leaving-a-workspace.

const MAX_CACHED_OWNERS = 1000;

/** If `unknown`, the owner's document is unreadable, so the owner's tasks and runs neither continue nor end. */
export type OwnerState = 'works' | 'out' | 'unknown';

/** Returns whether a person's tasks and runs may run in a workspace. The person must be at least a worker there. */
export function canWorkIn(roles: PersonRoles, workspace: string): boolean {
  const role = personsRoleIn(roles, workspace);
  return role !== undefined && hasRole(role, 'worker');
}

export class OwnerRoles extends Service<Pick<AccessPorts, 'clock'> & { readonly roles: RolesOfPeople }> {
  private readonly known = new BoundedMap<string, { readonly roles: PersonRoles; readonly readAt: number }>(
    MAX_CACHED_OWNERS,
  );

  /** Returns whether the owner's work may run. A role is cached for 5 seconds; a missing role is read again. */
  async stateOf(ownerUid: string, workspace: string): Promise<OwnerState> {
    const now = this.ports.clock.now().getTime();
    const known = this.known.get(ownerUid);
    const isFresh = known !== undefined && now - known.readAt < CACHE_TTL_MS;
    if (isFresh && canWorkIn(known.roles, workspace)) return 'works';
    const roles = await skipUnreadable(this.ports.roles.of(ownerUid));
    if (roles === undefined) return 'unknown';
    this.known.set(ownerUid, { roles, readAt: now });
    return canWorkIn(roles, workspace) ? 'works' : 'out';
  }
}
