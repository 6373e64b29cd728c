/** Owners of agents. An agent never has more permissions than its owner. */
import type { AccessPorts } from '../../functions/src/access/rules/ports.ts';
import { type PersonRoles, personsRoleIn } from '../../functions/src/identity/rules/principal.ts';
import { hasRole, type Role } from '../../functions/src/identity/rules/role.ts';
import { findAccount } from './accounts.ts';

type Ports = Pick<AccessPorts, 'people'>;

/** Returns a person's roles, both the stored ones and the role in the account's claims. */
export async function rolesOf({ people }: Ports, uid: string): Promise<PersonRoles> {
  const [person, access] = await Promise.all([people.find(uid), people.workspaces()]);
  const role = person?.role ?? (await findAccount(uid))?.role;
  const { workspaces = {} } = person ?? {};
  return { workspaces, access, ...(role !== undefined && role !== 'none' && { role }) };
}

/**
 * Returns the uid of an agent's owner. A command names the owner by uid or by verified address.
 * @throws Error if the uid or address is unknown, because it may be misspelled
 */
export async function ownerNamed({ people }: Ports, who: string): Promise<string> {
  const account = await findAccount(who);
  if (account !== undefined) return account.uid;
  if ((await people.find(who)) !== undefined) return who;
  throw new Error(
    [
      `Unknown person "${who}": no account and no role.`,
      'Create the account first (npm run people -- create --mail <address>), or use the uid or the verified address of an existing account.',
    ].join('\n'),
  );
}

/** Returns a warning if the owner's role in the agent's home workspace is too low, because that limits the agent. */
export function missingAccessOf(owner: PersonRoles, uid: string, agents: Role, home: string): string | undefined {
  const own = personsRoleIn(owner, home);
  if (own !== undefined && hasRole(own, agents)) return undefined;
  const has = own === undefined ? 'no role' : `the role ${own}`;
  const may = own === undefined ? 'the agent cannot do anything there' : `the agent is limited to ${own} there`;
  return `Its owner ${uid} has ${has} in the workspace ${home}, so ${may}. Change this with npm run people.`;
}
