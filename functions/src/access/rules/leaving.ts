/**
 * What becomes of the work of people who lose a role: what they began in a workspace ends with it. The toolsets whose work
 * that is bring the ends. Source: docs/semantics.md#what-leaving-ends.
 */
import { mayWorkIn } from './ownerRoles.ts';
import type { Person } from './people.ts';
import { type PersonRoles, personsRoleIn } from './principal.ts';
import { hasRole, type Role } from './role.ts';

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
