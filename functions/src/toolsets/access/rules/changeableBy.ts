/** Who can change that something is refused, as far as the caller may know them. */
import type { RoleSource } from '../../../access/rules/decision.ts';
import type { AccessPorts } from '../../../access/rules/ports.ts';
import { accessOf, type Principal, roleIn } from '../../../access/rules/principal.ts';
import { administers, OF_DEPLOYMENT } from './administration.ts';

export interface ChangeableBy {
  /** In words. */
  readonly who: string;
  /** Some of them, where the caller may see the members of the workspace. */
  readonly people: readonly { readonly uid: string; readonly name?: string }[];
}

export interface Refused {
  /** As the gate has it, or what the rule needs. */
  readonly reason: string;
  readonly from: RoleSource | undefined;
  readonly workspace: string | undefined;
}

const MAX_NAMED = 5;

/** Reasons that lie in the credential, which its owner chose. */
const OF_CREDENTIAL: readonly string[] = ['TOOLSET_NOT_ALLOWED', 'READ_ONLY'];

export async function whoCanChange(
  ports: Pick<AccessPorts, 'people' | 'idTokens'>,
  principal: Principal,
  { reason, from, workspace }: Refused,
): Promise<ChangeableBy> {
  const { ownerUid, heldTo } = principal;
  const isHeldAway = heldTo !== undefined && workspace !== undefined && heldTo !== workspace;
  if (OF_CREDENTIAL.includes(reason) || isHeldAway || from === 'own' || from === 'readonly') {
    const who = "The agent's owner in person, by registering it again with another role or other limits.";
    return { who, people: await named(ports, [ownerUid]) };
  }
  if (reason === 'nobody') return { who: 'Nobody: the server alone keeps it.', people: [] };
  if (reason.startsWith('owner')) return { who: "Nobody: it is its owner's alone.", people: [] };
  const operator = 'whoever runs this deployment, with "npm run people"';
  if (reason === OF_DEPLOYMENT) return { who: `Only ${operator}.`, people: [] };
  if (workspace === undefined)
    return { who: `A leader of a workspace, who invites you to it; ${operator}.`, people: [] };
  const who = `Whoever leads the workspace "${workspace}", with access.invite or access.set_member; ${operator}.`;
  const isSeen =
    accessOf(principal.owner.access, workspace) !== undefined &&
    (roleIn(principal, workspace) !== undefined || administers(principal, workspace));
  if (!isSeen) return { who, people: [] };
  const leaders = await ports.people.leaders(workspace, MAX_NAMED);
  return {
    who,
    people: await named(
      ports,
      leaders.map(({ value }) => value.uid),
    ),
  };
}

async function named({ idTokens }: Pick<AccessPorts, 'idTokens'>, uids: readonly string[]) {
  const profiles = await idTokens.profiles(uids);
  return uids.map((uid) => {
    const name = profiles.get(uid)?.name;
    return { uid, ...(name !== undefined && { name }) };
  });
}
