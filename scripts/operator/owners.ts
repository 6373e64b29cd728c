/** Whether the owner of an agent may do anything: an agent may never do more. */

import type { AccessPorts } from '../../functions/src/access/rules/ports.ts';
import { type PersonRoles, personsRoleIn } from '../../functions/src/identity/rules/principal.ts';
import { hasRole, type Role } from '../../functions/src/identity/rules/role.ts';
import { findAccount } from './accounts.ts';

type Ports = Pick<AccessPorts, 'people' | 'store'>;

/** What a person may do, where, as stored and as their account claims. */
export async function rolesOf({ people }: Pick<Ports, 'people'>, uid: string): Promise<PersonRoles> {
  const [person, access] = await Promise.all([people.find(uid), people.workspaces()]);
  const role = person?.role ?? (await findAccount(uid))?.role;
  const { workspaces = {} } = person ?? {};
  return { workspaces, access, ...(role !== undefined && role !== 'none' && { role }) };
}

/** The owner of agents for whom no person is named: whoever has a shell of the deployment. */
export const OPERATOR = 'operator';

/**
 * Returns the uid of the owner that a command names by uid or verified address.
 * @param isSure whether a name that nothing is known of is meant as it is
 * @throws Error for a name that nothing is known of, which may be a typing error
 */
export async function ownerNamed(
  { people }: Pick<Ports, 'people'>,
  who: string,
  isSure: boolean,
): Promise<string> {
  if (who === OPERATOR) return who;
  const account = await findAccount(who);
  if (account !== undefined) return account.uid;
  if (isSure || (await people.find(who)) !== undefined) return who;
  throw new Error(
    [
      `No person is known as "${who}": no account and no role.`,
      'Make the account first (npm run people -- create --mail <address>), or give the uid or the verified address of an account.',
      'If an owner without an account is meant, add --yes.',
    ].join('\n'),
  );
}

/**
 * Makes the operator an admin, who has no account by which a role could be given. Other owners get no role by default.
 * @returns the sentence that says so
 */
export async function ensureOwner(ports: Ports, uid: string): Promise<string | undefined> {
  if (uid !== OPERATOR || (await ports.people.find(uid))?.role !== undefined) return undefined;
  await ports.store.commit([{ kind: 'setPerson', uid, role: 'admin' }]);
  return `Its owner ${uid} had no role: it is admin from now on.`;
}

/** What the owner lacks for the agent to be in its home what it is; undefined where nothing. */
export function lackOf(owner: PersonRoles, uid: string, agents: Role, home: string): string | undefined {
  const own = personsRoleIn(owner, home);
  if (own !== undefined && hasRole(own, agents)) return undefined;
  const has = own === undefined ? 'no role' : `the role ${own}`;
  const may = own === undefined ? 'it can do nothing there' : `it is no more than ${own} there`;
  return `Its owner ${uid} has ${has} in the workspace ${home}: ${may}. See npm run people.`;
}
