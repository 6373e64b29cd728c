/** What people may do, where: as it is stored of them, and as their accounts claim. */

import { Service } from '../../kernel/ports.ts';
import { isOut } from './people.ts';
import type { AccessPorts, AccountStanding, RolesOfPeople } from './ports.ts';
import type { PersonRoles } from './principal.ts';
import type { Role } from './role.ts';

export class PersonRoleReader
  extends Service<Pick<AccessPorts, 'people' | 'idTokens'>>
  implements RolesOfPeople
{
  async of(uid: string, claimed?: () => Promise<Role | undefined>): Promise<PersonRoles & AccountStanding> {
    const { people, idTokens } = this.ports;
    const [person, { access, asking }] = await Promise.all([people.find(uid), people.deployment()]);
    if (claimed === undefined && isOut(person?.account))
      return { workspaces: {}, access, asking, isOut: true };
    const role = person?.role ?? (await (claimed ?? (() => idTokens.roleOf(uid)))());
    const { workspaces = {}, valid_since } = person ?? {};
    const isClaimed = person?.role === undefined && { isClaimed: true as const };
    return {
      workspaces,
      access,
      asking,
      ...(role !== undefined && role !== 'none' && { role }),
      ...isClaimed,
      ...(valid_since !== undefined && { validSince: valid_since }),
    };
  }
}
