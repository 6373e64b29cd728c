/** Identity of a caller: its owner, roles and limits. */
import { z } from 'zod';
import { type RoleSource, sourcedRole } from '../../../access/rules/decision.ts';
import type { Invitations } from '../../../access/rules/invitations.ts';
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

export interface WorkspaceRole {
  readonly workspace: string;
  readonly access: WorkspaceAccess;
  readonly role: Role;
  readonly from: RoleSource;
  /** The owner's role in this workspace, if the agent's own role is weaker. */
  readonly ownersRole?: Role;
}

export type Identity = Awaited<ReturnType<Identities['describe']>>;

const MAX_LISTED = 100;

export class Identities extends Service<AccessPorts & { readonly invitations: Pick<Invitations, 'accept'> }> {
  async describe({ principal: caller, credential }: Caller) {
    const { agents, idTokens, roles, invitations } = this.ports;
    const { uid, email, agent_id, owner_uid } = caller;
    const accepted = email === undefined ? [] : await invitations.accept(uid, email, undefined, () => undefined);
    // People call this tool after a change of their role, so the roles cached with their token can be outdated.
    const isPerson = agent_id === undefined;
    const principal = isPerson ? { ...caller, owner: await roles.of(uid, async () => caller.owner.role) } : caller;
    const [profiles, agent, expiresAt] = await Promise.all([
      idTokens.profiles([owner_uid]),
      agent_id === undefined ? undefined : agents.find(agent_id),
      this.expiryOf(principal, credential),
    ]);
    const { listed, others } = workspaceRoles(principal);
    const owner: Profile = profiles.get(owner_uid) ?? {};
    return {
      principal,
      owner,
      agentName: agent?.value.name,
      home: homeOf(principal),
      deploymentRole: deploymentRole(principal),
      workspaces: listed.slice(0, MAX_LISTED),
      // Admins administer these workspaces, but have no role in them, so that they cannot see the work there.
      administers: isAdmin(principal) ? others.slice(0, MAX_LISTED) : undefined,
      truncated: listed.length > MAX_LISTED || (isAdmin(principal) && others.length > MAX_LISTED),
      expiresAt,
      accepted,
    };
  }

  private async expiryOf({ agent_id, grant }: Principal, credential: string): Promise<Date | undefined> {
    if (agent_id === undefined) return tokenExpiry(credential);
    // An app renews its access token automatically, so the expiry of the sign-in is returned instead.
    if (grant?.resource !== undefined) return (await this.ports.grants.find(grant.id))?.value.expires_at;
    const [apiKey] = credential.split('.');
    return (await this.ports.agents.credentials(agent_id)).find((one) => one.api_key === apiKey)?.expires_at;
  }
}

function workspaceRoles(principal: Principal) {
  const { owner } = principal;
  // The roles are returned as if the credential were not read-only, because `readonly` is a separate field.
  const { readonly: _readonly, ...writing } = principal;
  const listed: WorkspaceRole[] = [];
  const others: Pick<WorkspaceRole, 'workspace' | 'access'>[] = [];
  for (const [workspace, access] of knownWorkspaces(owner)) {
    const { role, from } = sourcedRole(writing, workspace);
    const ownersRole = personsRoleIn(owner, workspace);
    if (role === undefined) others.push({ workspace, access });
    else listed.push({ workspace, access, role, from, ...(from === 'own' && ownersRole && { ownersRole }) });
  }
  return { listed, others };
}

/** Returns the workspace of calls that name no workspace, and a sentence that explains why it is this workspace. */
function homeOf({ held_to, workspace, agent_id }: Principal) {
  if (held_to !== undefined) return { workspace: held_to, why: 'Your credential is restricted to this workspace.' };
  if (workspace !== undefined)
    return { workspace, why: `This is the default workspace of the agent ${agent_id}, set at its registration.` };
  return {
    workspace: DEFAULT_WORKSPACE,
    why: `This is the default workspace of every ${agent_id === undefined ? 'person' : 'agent without another default workspace'}. To select another workspace, add it to the URL, as in ?workspace=alpha.`,
  };
}

const expiring = z.object({ exp: z.number() });

/** Returns the expiry of an ID token. The token itself was verified when the call arrived. */
function tokenExpiry(idToken: string): Date | undefined {
  const [, payload = ''] = idToken.split('.');
  const { data } = expiring.safeParse(parsedJson(Buffer.from(payload, 'base64url').toString()));
  return data && new Date(data.exp * 1000);
}
