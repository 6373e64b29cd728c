/** Who is calling, for whom, and what that is good for. */
import { z } from 'zod';
import { type RoleSource, sourcedRole } from '../../../access/rules/decision.ts';
import type { Invitations, Taken } from '../../../access/rules/invitations.ts';
import type { AccessPorts } from '../../../access/rules/ports.ts';
import type { Profile } from '../../../identity/rules/ports.ts';
import {
  type Caller,
  DEFAULT_WORKSPACE,
  isAdmin,
  knownWorkspaces,
  type Principal,
  personsRoleIn,
} from '../../../identity/rules/principal.ts';
import type { Role, WorkspaceAccess } from '../../../identity/rules/role.ts';
import { parsedJson } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { deploymentRole } from './administration.ts';

/** The caller's role in a workspace, and where it comes from. */
export interface Standing {
  readonly workspace: string;
  readonly access: WorkspaceAccess;
  readonly role: Role;
  readonly from: RoleSource;
  /** The owner's, where the agent's own bounds it. */
  readonly ownersRole?: Role;
}

export interface Identity {
  readonly principal: Principal;
  readonly owner: Profile;
  readonly agentName?: string;
  /** What a call means that names no workspace, and why. */
  readonly home: { readonly workspace: string; readonly why: string };
  readonly deploymentRole?: Role;
  readonly workspaces: readonly Standing[];
  /** For an admin: the workspaces in which it has no role, which it administers and cannot look into. */
  readonly administers?: readonly Pick<Standing, 'workspace' | 'access'>[];
  /** Whether `workspaces` or `administers` is cut. */
  readonly truncated: boolean;
  readonly expiresAt?: Date;
  readonly accepted: readonly Taken[];
}

const MAX_LISTED = 100;

export class Identities extends Service<AccessPorts & { readonly invitations: Pick<Invitations, 'take'> }> {
  async describe({ principal: caller, credential }: Caller): Promise<Identity> {
    const { agents, idTokens, roles, invitations } = this.ports;
    const { uid, email, agent_id, owner_uid } = caller;
    const accepted =
      email === undefined ? [] : await invitations.take(uid, email, undefined, () => undefined);
    // A person asks because a role has changed: what was known when the token was checked may be older.
    const isPerson = agent_id === undefined;
    const principal = isPerson
      ? { ...caller, owner: await roles.of(uid, async () => caller.owner.role) }
      : caller;
    const [profiles, agent, expiresAt] = await Promise.all([
      idTokens.profiles([owner_uid]),
      agent_id === undefined ? undefined : agents.find(agent_id),
      this.expiryOf(principal, credential),
    ]);
    const { listed, others } = standings(principal);
    const role = deploymentRole(principal);
    return {
      principal,
      owner: profiles.get(owner_uid) ?? {},
      ...(agent && { agentName: agent.value.name }),
      home: homeOf(principal),
      ...(role && { deploymentRole: role }),
      workspaces: listed.slice(0, MAX_LISTED),
      ...(isAdmin(principal) && { administers: others.slice(0, MAX_LISTED) }),
      truncated: listed.length > MAX_LISTED || (isAdmin(principal) && others.length > MAX_LISTED),
      ...(expiresAt && { expiresAt }),
      accepted,
    };
  }

  private async expiryOf({ agent_id, grant }: Principal, credential: string): Promise<Date | undefined> {
    if (agent_id === undefined) return tokenExpiry(credential);
    // An app's access token is renewed by itself: what its person sees end is the sign-in.
    if (grant?.resource !== undefined) return (await this.ports.grants.find(grant.id))?.value.expires_at;
    const [apiKey] = credential.split('.');
    return (await this.ports.agents.credentials(agent_id)).find((one) => one.api_key === apiKey)?.expires_at;
  }
}

function standings(principal: Principal) {
  const { owner } = principal;
  // A credential that only reads has its role all the same: it is told of that apart.
  const { readonly: _readonly, ...writing } = principal;
  const listed: Standing[] = [];
  const others: Pick<Standing, 'workspace' | 'access'>[] = [];
  for (const [workspace, access] of knownWorkspaces(owner)) {
    const { role, from } = sourcedRole(writing, workspace);
    const ownersRole = personsRoleIn(owner, workspace);
    if (role === undefined) others.push({ workspace, access });
    else listed.push({ workspace, access, role, from, ...(from === 'own' && ownersRole && { ownersRole }) });
  }
  return { listed, others };
}

function homeOf({ held_to, workspace, agent_id }: Principal): Identity['home'] {
  if (held_to !== undefined)
    return { workspace: held_to, why: 'Your credential is held to it: naming another one is refused.' };
  if (workspace !== undefined)
    return { workspace, why: `It is the home of the agent ${agent_id}, from when it was registered.` };
  return {
    workspace: DEFAULT_WORKSPACE,
    why: `${agent_id === undefined ? 'A person has' : 'Your agent has'} no other home: name another one in the URL, as in ?workspace=alpha.`,
  };
}

const expiring = z.object({ exp: z.number() });

/** A person's ID token says it itself; it was verified when the call came in. */
function tokenExpiry(idToken: string): Date | undefined {
  const [, payload = ''] = idToken.split('.');
  const { data } = expiring.safeParse(parsedJson(Buffer.from(payload, 'base64url').toString()));
  return data && new Date(data.exp * 1000);
}
