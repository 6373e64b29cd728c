/** Roles of people and agents, and access of workspaces. Source: docs/semantics.md#permissions. */

/** Roles, weakest first. Each role includes the rights of the roles before it. */
export const ROLES = ['viewer', 'worker', 'leader', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Returns whether a role is `minimum` or stronger. */
export function hasRole(role: Role, minimum: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(minimum);
}

export function weakerOf(one: Role, other: Role): Role {
  return hasRole(one, other) ? other : one;
}

/** Roles that members of a workspace can have. The role admin exists only for the deployment. */
export const MEMBER_ROLES = ['viewer', 'worker', 'leader'] as const satisfies readonly Role[];
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Access of a workspace. `open`: for everyone with a deployment role. `private`: only for members. */
export const WORKSPACE_ACCESS = ['open', 'private'] as const;
export type WorkspaceAccess = (typeof WORKSPACE_ACCESS)[number];
