/** What people may do, where: as it is stored of them, and as their accounts claim. */
import { Service } from '../../kernel/ports.ts';
import { isOut } from './people.ts';
import type { AccessPorts, PersonRoles, Role } from './principal.ts';

interface AccountStanding {
  readonly isClaimed?: true;
  /** The account is disabled or deleted. */
  readonly isOut?: true;
  /** Sign-ins before it open nothing; seconds of the epoch. */
  readonly validSince?: number;
}

export class PersonRoleReader extends Service<Pick<AccessPorts, 'people' | 'idTokens'>> {
  /**
   * A person whose account is disabled or deleted has no role, except for who has verified their ID token.
   * `isClaimed`: whether the role, or that there is none, is the account's word.
   * @param claimed the role by which to go where the deployment has stored none: of the account, unless it is given
   */
  async of(uid: string, claimed?: () => Promise<Role | undefined>): Promise<PersonRoles & AccountStanding> {
    const { people, idTokens } = this.ports;
    const [person, { access, asking }] = await Promise.all([people.find(uid), people.deployment()]);
    if (claimed === undefined && isOut(person?.account))
      return { workspaces: {}, access, asking, isOut: true };
    const role = person?.role ?? (await (claimed ?? (() => idTokens.roleOf(uid)))());
    const { workspaces = {}, validSince } = person ?? {};
    const isClaimed = person?.role === undefined && { isClaimed: true as const };
    return {
      workspaces,
      access,
      asking,
      ...(role !== undefined && role !== 'none' && { role }),
      ...isClaimed,
      ...(validSince !== undefined && { validSince }),
    };
  }
}
