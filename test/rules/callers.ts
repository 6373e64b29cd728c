/** Everybody who may come to the databases, and what their ID tokens say. */
import { agentUid } from '../../functions/src/domain/agents/credential.ts';
import { hasRole, ROLES, type Role } from '../../functions/src/domain/principal.ts';
import type { Least } from './collections.ts';

export interface Caller {
  readonly name: string;
  readonly uid?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Undefined: signed out. */
  readonly role?: Role;
}

const agents = ROLES.map((role): Caller => {
  const agentId = `${role}-1`;
  return {
    name: `an agent that is ${role}`,
    uid: agentUid(agentId),
    claims: { role, kind: 'agent', agentId, ownerUid: 'owner-1' },
    role,
  };
});

export const callers: readonly Caller[] = [
  { name: 'somebody signed out' },
  { name: 'a person without a role', uid: 'person-1', claims: {}, role: 'viewer' },
  // Whoever invents a role gains nothing by it.
  { name: 'a person with an unknown role', uid: 'person-2', claims: { role: 'superadmin' }, role: 'viewer' },
  { name: 'a person that is worker', uid: 'person-3', claims: { role: 'worker' }, role: 'worker' },
  { name: 'a person that is admin', uid: 'person-4', claims: { role: 'admin' }, role: 'admin' },
  ...agents,
];

export function may(caller: Caller, least: Least): boolean {
  return least !== 'nobody' && caller.role !== undefined && hasRole(caller.role, least);
}

/** The weakest caller that may; undefined where nobody may. */
export function weakest(least: Least): Caller | undefined {
  return agents.find((caller) => may(caller, least));
}
