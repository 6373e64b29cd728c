/**
 * Whether those for whom something is done later may still have it done: owners of tasks and runs, who need a role in the
 * workspace at the moment of each claim and each step. Source: docs/semantics.md#what-leaving-ends.
 */
import { BoundedMap } from '../../kernel/memoCache.ts';
import { Service, unlessUnreadable } from '../../kernel/ports.ts';
import type { AccessPorts, RolesOfPeople } from './ports.ts';
import { type PersonRoles, personsRoleIn } from './principal.ts';
import { hasRole } from './role.ts';
import { TRUSTED_MILLISECONDS } from './trust.ts';

/** How many owners an instance remembers. */
const MAX_OWNERS = 1000;

/** `unknown`: what is stored of the person cannot be read, so nothing is done for them and nothing of theirs is ended. */
export type OwnerStanding = 'works' | 'out' | 'unknown';

/** Whether a person may have work done in a workspace: at least as a worker. */
export function mayWorkIn(roles: PersonRoles, workspace: string): boolean {
  const role = personsRoleIn(roles, workspace);
  return role !== undefined && hasRole(role, 'worker');
}

interface Known {
  readonly roles: PersonRoles;
  readonly readAt: number;
}

export class OwnerRoles extends Service<Pick<AccessPorts, 'clock'> & { readonly roles: RolesOfPeople }> {
  private readonly known = new BoundedMap<string, Known>(MAX_OWNERS);

  /**
   * Returns whether the owner may have work done in the workspace. A role that was read in the last 5 seconds counts; that
   * there is none is read anew, because what follows from it is final.
   */
  async standing(ownerUid: string, workspace: string): Promise<OwnerStanding> {
    const now = this.ports.clock.now().getTime();
    const known = this.known.get(ownerUid);
    const isFresh = known !== undefined && now - known.readAt < TRUSTED_MILLISECONDS;
    if (isFresh && mayWorkIn(known.roles, workspace)) return 'works';
    const roles = await unlessUnreadable(this.ports.roles.of(ownerUid));
    if (roles === undefined) return 'unknown';
    this.known.set(ownerUid, { roles, readAt: now });
    return mayWorkIn(roles, workspace) ? 'works' : 'out';
  }
}
