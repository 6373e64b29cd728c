/** Ends what people who lose a role began in a workspace. Source: docs/semantics.md#what-leaving-ends. */
import type { Person } from '../../identity/rules/people.ts';
import type { RolesOfPeople } from '../../identity/rules/ports.ts';
import { type PersonRoles, personsRoleIn } from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { Service, unlessUnreadable } from '../../kernel/ports.ts';
import type { AccessPorts } from './ports.ts';
import { TRUSTED_MILLISECONDS } from './trust.ts';

/** Where a person has lost what. */
export interface Left {
  /** Whether they may not have work done there any more. */
  readonly isOut: (workspace: string) => boolean;
  /** Whether they have no role there at all. */
  readonly isGone: (workspace: string) => boolean;
}

/** Returns where a person with these roles may not have work done. */
export function leftBy(roles: PersonRoles): Left {
  return {
    isOut: (workspace) => !mayWorkIn(roles, workspace),
    isGone: (workspace) => personsRoleIn(roles, workspace) === undefined,
  };
}

/** How much of a person's work is open in a workspace, as far as one call counts it. */
export interface OpenWork {
  readonly codingTasks: number;
  readonly runs: number;
  /** Whether there is more than was counted. */
  readonly more: boolean;
}

/** What one kind of work of a person ends by. Each is safe to call twice, late, and in two instances at once. */
export interface LeavingEnd {
  /** Ends the open work of a person where they have lost their role. Returns how much that was. */
  end(uid: string, left: Left): Promise<number>;
}

/** Returns whether a person may do less anywhere than before. Undefined stands for a person of whom nothing is stored. */
export function mayHaveLost(before: Person | undefined, after: Person | undefined): boolean {
  // Without a stored role the account's claim holds, which may be any.
  if (before?.role === undefined ? after?.role !== undefined : isLess(before.role, after?.role)) return true;
  return Object.entries(before?.workspaces ?? {}).some(([workspace, role]) =>
    isLess(role, after?.workspaces[workspace]),
  );
}

function isLess(before: Role | 'none', after: Role | 'none' | undefined): boolean {
  if (before === 'none') return false;
  return after === undefined || after === 'none' || !hasRole(after, before);
}

/** Returns the workspaces that were open and are private now: the role that the deployment gives counts there no longer. */
export function closedSince(before: PersonRoles['access'], after: PersonRoles['access']): readonly string[] {
  return Object.keys(after).filter(
    (workspace) => before[workspace] === 'open' && after[workspace] === 'private',
  );
}

// Whether those for whom something is done later may still have it done: owners of tasks and runs, who need a role in
// the workspace at the moment of each claim and each step. Source: docs/semantics.md#what-leaving-ends.

/** How many owners an instance remembers. */
const MAX_OWNERS = 1000;

/** `unknown`: what is stored of the person cannot be read, so nothing is done for them and nothing of theirs is ended. */
export type OwnerStanding = 'works' | 'out' | 'unknown';

/** Whether a person may have work done in a workspace: at least as a worker. */
export function mayWorkIn(roles: PersonRoles, workspace: string): boolean {
  const role = personsRoleIn(roles, workspace);
  return role !== undefined && hasRole(role, 'worker');
}

interface Known {
  readonly roles: PersonRoles;
  readonly readAt: number;
}

export class OwnerRoles extends Service<Pick<AccessPorts, 'clock'> & { readonly roles: RolesOfPeople }> {
  private readonly known = new BoundedMap<string, Known>(MAX_OWNERS);

  /** Returns whether the owner may have work done. A role may be 5 seconds old; that there is none is read anew. */
  async standing(ownerUid: string, workspace: string): Promise<OwnerStanding> {
    const now = this.ports.clock.now().getTime();
    const known = this.known.get(ownerUid);
    const isFresh = known !== undefined && now - known.readAt < TRUSTED_MILLISECONDS;
    if (isFresh && mayWorkIn(known.roles, workspace)) return 'works';
    const roles = await unlessUnreadable(this.ports.roles.of(ownerUid));
    if (roles === undefined) return 'unknown';
    this.known.set(ownerUid, { roles, readAt: now });
    return mayWorkIn(roles, workspace) ? 'works' : 'out';
  }
}
