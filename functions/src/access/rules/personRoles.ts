/** What people may do, where: as it is stored of them, and as their accounts claim. */
import { Service } from '../../kernel/ports.ts';
import type { AccessPorts, PersonRoles, Role } from './principal.ts';

export class PersonRoleReader extends Service<Pick<AccessPorts, 'people' | 'idTokens'>> {
  /**
   * `isClaimed`: whether the role, or that there is none, is the account's word.
   * @param claimed the role by which to go where the deployment has stored none: of the account, unless it is given
   */
  async of(
    uid: string,
    claimed: () => Promise<Role | undefined> = () => this.ports.idTokens.roleOf(uid),
  ): Promise<PersonRoles & { readonly isClaimed?: true }> {
    const { people } = this.ports;
    const [person, { access, asking }] = await Promise.all([people.find(uid), people.deployment()]);
    const role = person?.role ?? (await claimed());
    const { workspaces = {} } = person ?? {};
    const isClaimed = person?.role === undefined && { isClaimed: true as const };
    return {
      workspaces,
      access,
      asking,
      ...(role !== undefined && role !== 'none' && { role }),
      ...isClaimed,
    };
  }
}
