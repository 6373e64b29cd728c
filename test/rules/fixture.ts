/** Workspaces of the callers in the tests of the rules, and the stored state of people. */
import type { AccountState, Person } from '../../functions/src/identity/rules/people.ts';
import type { WorkspaceAccess } from '../../functions/src/identity/rules/role.ts';

/** Access of each workspace besides `default`, which is open. `unopened` was never opened. */
export const ACCESS: Readonly<Record<string, WorkspaceAccess>> = { alpha: 'private', beta: 'open', gamma: 'private' };

/** Stored roles of a person, and the role claim of the account. */
export interface PersonAccess {
  readonly role?: Person['role'];
  readonly workspaces?: Person['workspaces'];
  readonly validSince?: number;
  readonly account?: AccountState;
  /** Arbitrary claim of a token. */
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
