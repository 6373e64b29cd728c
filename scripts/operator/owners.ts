/** Whether the owner of an agent may do anything: an agent may never do more. */
import {
  hasRole,
  type PersonRoles,
  personsRoleIn,
  type Role,
} from '../../functions/src/access/rules/principal.ts';
import type { composePorts } from '../../functions/src/composition/ports.ts';
import { findAccount } from './accounts.ts';

type Ports = Pick<ReturnType<typeof composePorts>, 'people' | 'store'>;

/** What a person may do, where, as stored and as their account claims. */
export async function rolesOf({ people }: Pick<Ports, 'people'>, uid: string): Promise<PersonRoles> {
  const [person, access] = await Promise.all([people.find(uid), people.workspaces()]);
  const role = person?.role ?? (await findAccount(uid))?.role;
  const { workspaces = {} } = person ?? {};
  return { workspaces, access, ...(role !== undefined && role !== 'none' && { role }) };
}

/**
 * Gives a role to an owner of whom nobody has said anything yet: without an account, admin, since nobody else can be
 * meant but the operator; with one, no more than the agent has.
 * @returns the sentence that says so
 */
export async function ensureOwner(ports: Ports, uid: string, agents: Role): Promise<string | undefined> {
  const person = await ports.people.find(uid);
  if (person?.role !== undefined || Object.keys(person?.workspaces ?? {}).length > 0) return undefined;
  const account = await findAccount(uid);
  if (account?.role !== undefined) return undefined;
  const role = account === undefined ? 'admin' : agents;
  await ports.store.commit([{ kind: 'setPerson', uid, role }]);
  const why = account === undefined ? 'has no account, and no' : 'had no';
  return `Its owner ${uid} ${why} role: it is ${role} from now on.`;
}

/** What the owner lacks for the agent to be in its home what it is; undefined where nothing. */
export function lackOf(owner: PersonRoles, uid: string, agents: Role, home: string): string | undefined {
  const own = personsRoleIn(owner, home);
  if (own !== undefined && hasRole(own, agents)) return undefined;
  const has = own === undefined ? 'no role' : `the role ${own}`;
  const may = own === undefined ? 'it can do nothing there' : `it is no more than ${own} there`;
  return `Its owner ${uid} has ${has} in the workspace ${home}: ${may}. See npm run people.`;
}
