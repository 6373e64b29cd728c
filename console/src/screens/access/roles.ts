/** Roles of a workspace, lowest first. */
export const ROLES = ['viewer', 'worker', 'leader'] as const;
