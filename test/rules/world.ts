/** The workspaces that callers of the rules' tests come from, and what is stored of the people. */
import type { AccountState, Person } from '../../functions/src/identity/rules/people.ts';
import type { WorkspaceAccess } from '../../functions/src/identity/rules/role.ts';

/** Beside `default`, which is open. Nobody has opened `unopened`. */
export const ACCESS: Readonly<Record<string, WorkspaceAccess>> = {
  alpha: 'private',
  beta: 'open',
  gamma: 'private',
};

/** What is stored of somebody, and the role that their account claims. */
export interface Standing {
  readonly role?: Person['role'];
  readonly workspaces?: Person['workspaces'];
  readonly validSince?: number;
  readonly account?: AccountState;
  /** Whatever a token may say. */
  readonly claim?: unknown;
}

export function personOf({ role, workspaces = {}, validSince, account }: Standing): Person | undefined {
  if (role === undefined && Object.keys(workspaces).length === 0) return undefined;
  return {
    workspaces,
    ...(role !== undefined && { role }),
    ...(validSince !== undefined && { valid_since: validSince }),
    ...(account !== undefined && { account }),
  };
}
