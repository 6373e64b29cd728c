/** Everybody who may come to the databases, and what their ID tokens say. */
import { agentUid, hasRole, ROLES, type Role } from '../../functions/src/access/rules/principal.ts';
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

const people = ROLES.map(
  (role): Caller => ({ name: `a person that is ${role}`, uid: `${role}-2`, claims: { role }, role }),
);

/** Whose the things are that belong to somebody; the agents above are theirs. */
export const OWNER: Caller = { name: 'their owner', uid: 'owner-1', claims: {}, role: 'viewer' };

/** Whoever invents a role gains nothing by it, nor does a claim that is no text. */
const strangers = ['superadmin', 'Admin', 'admin\nworker', 7, ['admin'], { admin: true }].map(
  (role, index): Caller => ({
    name: `a person whose role is ${JSON.stringify(role)}`,
    uid: `stranger-${index}`,
    claims: { role },
    role: 'viewer',
  }),
);

export const callers: readonly Caller[] = [
  { name: 'somebody signed out' },
  { name: 'a person without a role', uid: 'person-1', claims: {}, role: 'viewer' },
  ...strangers,
  OWNER,
  {
    name: 'an agent of another',
    uid: agentUid('other-1'),
    claims: { role: 'admin', ownerUid: 'other' },
    role: 'admin',
  },
  ...people,
  ...agents,
];

export function may(caller: Caller, least: Least): boolean {
  if (least === 'owner') return caller === OWNER;
  if (least === 'owner and agents') return caller === OWNER || caller.claims?.['ownerUid'] === OWNER.uid;
  return least !== 'nobody' && caller.role !== undefined && hasRole(caller.role, least);
}

/** The weakest caller that may; undefined where nobody may. */
export function weakest(least: Least): Caller | undefined {
  return [...agents, OWNER].find((caller) => may(caller, least));
}
