/** Who is calling. Source: docs/semantics.md#who-may-do-what. */

/** The roles, weakest first. A role may do what every weaker one may. */
export const ROLES = ['viewer', 'worker', 'leader', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/**
 * An authenticated caller.
 *
 * `uid` is the Firebase Auth uid that security rules see: a person's own, or `agent:<agentId>`.
 * `ownerUid` is the person whose to-dos the caller acts on: an agent's owner, or the person.
 * `toolsets`, where present, are the only toolsets that the caller may use.
 * `workspace` is the agent's own, which the URL may override.
 */
export interface Principal {
  readonly uid: string;
  readonly kind: 'agent' | 'person';
  readonly agentId?: string;
  readonly ownerUid: string;
  readonly role: Role;
  readonly toolsets?: readonly string[];
  readonly workspace?: string;
}

/** Whether `role` is `least` or stronger. */
export function hasRole(role: Role, least: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(least);
}
