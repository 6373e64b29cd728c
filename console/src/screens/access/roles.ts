import { roles } from '../../../text/common.ts';

/** Roles of a workspace, lowest first. */
export const ROLES = ['viewer', 'worker', 'leader'] as const;

/** Options of a list of roles. */
export const ROLE_OPTIONS = ROLES.map((role) => [role, roles[role] ?? role] as const);
