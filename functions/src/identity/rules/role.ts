/** The roles of people and agents, and who may come into a workspace. Source: docs/semantics.md#who-may-do-what. */

/** The roles, weakest first. A role may do what every weaker one may. */
export const ROLES = ['viewer', 'worker', 'leader', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** Whether `role` is `least` or stronger. */
export function hasRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}

export function weaker(one: Role, other: Role): Role {
  return hasRole(one, other) ? other : one;
}

export function strongerOf(one: Role, other: Role): Role {
  return hasRole(one, other) ? one : other;
}

/** The roles that a workspace gives. The deployment alone has admins. */
export const MEMBER_ROLES = ['viewer', 'worker', 'leader'] as const satisfies readonly Role[];

export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Who may come into a workspace: everybody whom the deployment knows, or its members alone. */
export const WORKSPACE_ACCESS = ['open', 'private'] as const;

export type WorkspaceAccess = (typeof WORKSPACE_ACCESS)[number];
