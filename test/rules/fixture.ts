/** Workspaces for the tests of the rules, and the stored access of people. */
import type { AccountState, Person } from '../../functions/src/identity/rules/people.ts';
import type { WorkspaceAccess } from '../../functions/src/identity/rules/role.ts';

/** Access of each workspace except `default`, which is open, and `unopened`, which was never created. */
export const ACCESS: Readonly<Record<string, WorkspaceAccess>> = { alpha: 'private', beta: 'open', gamma: 'private' };

/** Roles of a person: the stored roles, and the role in the account's custom claim. */
export interface PersonAccess {
  readonly role?: Person['role'];
  readonly workspaces?: Person['workspaces'];
  readonly validSince?: number;
  readonly account?: AccountState;
  /** Value of the claim `role`, which can be anything. */
  readonly claim?: unknown;
}

export function personOf({ role, workspaces = {}, validSince, account }: PersonAccess): Person | undefined {
  if (role === undefined && Object.keys(workspaces).length === 0) return undefined;
  return {
    workspaces,
    ...(role !== undefined && { role }),
    ...(validSince !== undefined && { valid_since: validSince }),
    ...(account !== undefined && { account }),
  };
}
