/**
 * Explanations of access, based on the permission check and on the table from which the security rules are generated.
 * Hidden data and missing data get the same explanation.
 */
import {
  type AccessDecision,
  type AccessQuestion,
  decideAccess,
  type ExplainProgress,
  type Progress,
  type RoleSource,
  type Subject,
  type WaitReason,
} from '../../../access/rules/decision.ts';
import {
  canUseToolset,
  permissionError,
  type RequiredPermission,
  requiredRole,
} from '../../../access/rules/permissionCheck.ts';
import { permissionFor } from '../../../access/rules/permissions.ts';
import type { AccessPorts } from '../../../access/rules/ports.ts';
import { type Agent, principalOf, terminalId } from '../../../agents/rules/agent.ts';
import type { Credential, Limits } from '../../../identity/rules/credential.ts';
import { accessOfGrant, ancestorsOf, resolveLineage } from '../../../identity/rules/lineage.ts';
import {
  accessOf,
  approvalRulesIn,
  DEFAULT_WORKSPACE,
  type Principal,
  roleIn,
} from '../../../identity/rules/principal.ts';
import type { Role } from '../../../identity/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import {
  administers,
  type CheckedTool,
  DEPLOYMENT_SCOPE,
  type HeldRole,
  heldRole,
  insideError,
  workspaceAsked,
} from './administration.ts';

export interface Explanation {
  readonly isAllowed: boolean;
  readonly principal: Principal;
  readonly workspace?: string;
  /** The required minimum role, or the required owner. */
  readonly needs: string;
  readonly held?: HeldRole;
  readonly why: string;
  /** Reasons why an allowed call has no effect yet: an approval, or a setting of the operator. */
  readonly waits?: readonly WaitReason[];
  /** Path in the security rules whose rule decides; undefined for tools. */
  readonly rule?: string;
  readonly changeableBy?: ChangeableBy;
}

export interface ExplanationPorts extends AccessPorts {
  /** Explains tasks and runs, by the name of the argument. */
  readonly progress: Readonly<Record<'task' | 'run', ExplainProgress>>;
  /** Reasons, by toolset, why its calls in a workspace do not go ahead: a missing setting, or a budget. */
  readonly obstacles: Readonly<
    Record<string, (workspace: string) => readonly WaitReason[] | Promise<readonly WaitReason[]>>
  >;
}

export class Explanations extends Service<ExplanationPorts> {
  /** Explains a task or run. @throws MusterError NOT_FOUND, also if the caller may not see it */
  progress(caller: Principal, kind: 'task' | 'run', id: string): Promise<Progress> {
    return this.ports.progress[kind](caller, id);
  }

  /**
   * Returns the caller and the call's workspace, or an agent of the caller's owner and the agent's default workspace.
   * @throws MusterError NOT_FOUND, also for other agents
   */
  async subject(caller: Principal, here: string, name: string | undefined) {
    if (name === undefined || name === caller.agent_id) return { principal: caller, workspace: here };
    const agent = await this.agentOf(caller, name);
    const [[credential], owner] = await Promise.all([
      this.ports.agents.credentials(agent.id),
      this.ports.roles.of(agent.owner_uid),
    ]);
    const principal = principalOf(agent, owner, await this.accessOf(agent, credential), {});
    return { principal, workspace: principal.workspace ?? DEFAULT_WORKSPACE };
  }

  /** Returns the current limits of the agent's credential. Without a credential, returns the agent's role. */
  private async accessOf(agent: Agent, credential: Credential | undefined): Promise<Limits & { role: Role }> {
    const { role } = agent;
    if (credential === undefined) return { role };
    const own = accessOfGrant(credential, role);
    const opened = await resolveLineage(this.ports, own, ancestorsOf(credential), this.ports.clock.now());
    // If the connection through which a credential was created has ended, the credential allows nothing.
    return opened?.opens ?? { ...own, toolsets: [] };
  }

  /** @param workspace the workspace of the call, or the one named in the tool's argument */
  async tool(asked: Principal, workspace: string, tool: CheckedTool): Promise<Explanation> {
    const need: RequiredPermission = { ...tool, what: tool.fullName };
    const judge = (principal: Principal): MusterError | undefined =>
      permissionError(principal, workspace, need) ?? insideError(principal, workspace, tool.fullName);
    // Like the permission check, reads the roles again if the cached roles are refused.
    const isKnown = accessOf(asked.owner.access, workspace) !== undefined;
    const principal = isKnown && judge(asked) === undefined ? asked : await this.renewed(asked);
    const refused = judge(principal);
    const held = heldRole(principal, workspace, tool);
    const isOfWorkspace = tool.scope === 'workspace' || workspaceAsked(tool.fullName);
    return {
      isAllowed: refused === undefined,
      principal,
      ...(isOfWorkspace && { workspace }),
      needs: tool.scope === 'anyone' ? 'an account' : requiredRole(tool, principal.kind),
      ...(held && { held }),
      why:
        refused?.message ??
        `${tool.fullName} needs ${neededRole(tool, principal, workspace)}${held ? `; yours is ${held.role}` : ''}.`,
      ...(refused === undefined && { waits: await this.waitsOf(principal, workspace, tool) }),
      ...(refused && {
        changeableBy: await whoCanChange(this.ports, principal, {
          reason: String(refused.details.reason),
          from: held?.from,
          workspace: isOfWorkspace ? workspace : undefined,
        }),
      }),
    };
  }

  /** Returns what an allowed call waits for. */
  private async waitsOf(
    { kind, uid, owner, owner_uid }: Principal,
    workspace: string,
    { fullName, toolset }: CheckedTool,
  ): Promise<readonly WaitReason[]> {
    const { workspaces, idTokens, obstacles } = this.ports;
    const missing = (await obstacles[toolset]?.(workspace)) ?? [];
    if (!approvalRulesIn(owner, workspace)) return missing;
    const rule = (await workspaces.find(workspace))?.value.approvals?.find(({ tool }) => tool === fullName);
    const { asks = owner_uid, above_usd: above } = rule ?? {};
    if (rule === undefined || (kind === 'person' && uid === asks)) return missing;
    const name = (await idTokens.profiles([asks])).get(asks)?.name ?? `the person "${asks}"`;
    const from = above === undefined ? '' : ` if it may cost more than $${above}`;
    const why = `The workspace requires that ${name} approves each call of ${fullName}${from}.`;
    return [
      ...missing,
      { why, remedy: `Call the tool. ${name} then approves the call in the console, under Needs you.` },
    ];
  }

  /** @param read reads the data with the caller's rights; returns undefined if it is hidden or missing */
  async path(
    asked: Principal,
    question: AccessQuestion,
    read: () => Promise<Subject | undefined>,
  ): Promise<Explanation> {
    const { where, ownerField } = permissionFor(question).permission;
    const dependsOnData = ownerField !== undefined || (typeof where === 'object' && 'field' in where);
    const subject = dependsOnData ? await read() : undefined;
    const judge = (principal: Principal): AccessDecision => decideAccess(principal, question, subject);
    const principal = judge(asked).isAllowed ? asked : await this.renewed(asked);
    const { isAllowed, permission, needs, workspace, role, from, reason } = judge(principal);
    const isClosed = !canUseToolset(principal, 'firebase');
    const allowed = isAllowed && !isClosed;
    return {
      isAllowed: allowed,
      principal,
      ...(workspace !== undefined && { workspace }),
      needs,
      ...(role && { held: { role, ...(from && { from }) } }),
      why: isClosed ? 'Your credential does not include the toolset firebase.' : reason,
      rule: permission.path,
      ...(!allowed && {
        changeableBy: await whoCanChange(this.ports, principal, {
          reason: isClosed ? 'TOOLSET_NOT_ALLOWED' : needs,
          from,
          workspace,
        }),
      }),
    };
  }

  private async renewed(principal: Principal): Promise<Principal> {
    return { ...principal, owner: await this.ports.roles.of(principal.owner_uid) };
  }

  private async agentOf(caller: Principal, name: string): Promise<Agent> {
    const { agents, hashing } = this.ports;
    for (const id of [name, terminalId(hashing, caller, name)]) {
      const known = await agents.find(id);
      if (known?.value.owner_uid === caller.owner_uid) return known.value;
    }
    throw new MusterError('NOT_FOUND', `You have no agent "${name}".`, {
      field: 'agent',
      value: name,
      suggestion: 'Set agent to one of your agents, as listed by access.list_connections, or omit agent.',
    });
  }
}

function neededRole(tool: CheckedTool, { kind }: Principal, workspace: string): string {
  const { scope } = tool;
  const role = requiredRole(tool, kind);
  if (scope === 'anyone') return 'only an account';
  return scope === 'workspace'
    ? `the role ${role} in the workspace "${workspace}"`
    : `the role ${role} in at least one workspace`;
}

export interface ChangeableBy {
  readonly who: string;
  /** Some of the people who can grant the refused access. Empty unless the caller can see the workspace's members. */
  readonly people: readonly { readonly uid: string; readonly name?: string }[];
}

const MAX_NAMED_PEOPLE = 5;

/** Error reasons caused by a limit of the credential, which only the agent's owner can change. */
const CREDENTIAL_REASONS: readonly string[] = ['TOOLSET_NOT_ALLOWED', 'READ_ONLY'];

/** @param refused `reason`: error reason of the permission check, or the requirement of the security rule */
async function whoCanChange(
  ports: Pick<AccessPorts, 'people' | 'idTokens'>,
  principal: Principal,
  refused: { readonly reason: string; readonly from: RoleSource | undefined; readonly workspace: string | undefined },
): Promise<ChangeableBy> {
  const { reason, from, workspace } = refused;
  const { owner_uid, held_to } = principal;
  const isHeldAway = held_to !== undefined && workspace !== undefined && held_to !== workspace;
  if (CREDENTIAL_REASONS.includes(reason) || isHeldAway || from === 'own' || from === 'readonly') {
    const who = "The agent's owner in person, by registering the agent again with another role or other limits.";
    return { who, people: await withNames(ports, [owner_uid]) };
  }
  if (reason === 'no one') return { who: 'No one: only the server writes this data.', people: [] };
  if (reason.startsWith('owner')) return { who: 'No one: only the owner has access to this data.', people: [] };
  const operator = 'the operator of this deployment, with "npm run people"';
  if (reason === DEPLOYMENT_SCOPE) return { who: `Only ${operator}.`, people: [] };
  if (workspace === undefined)
    return { who: `A leader of a workspace, by inviting you to it, or ${operator}.`, people: [] };
  const who = `A leader of the workspace "${workspace}", with access.invite or access.set_member, or ${operator}.`;
  const isSeen =
    accessOf(principal.owner.access, workspace) !== undefined &&
    (roleIn(principal, workspace) !== undefined || administers(principal, workspace));
  const leaders = isSeen ? await ports.people.leaders(workspace, MAX_NAMED_PEOPLE) : [];
  const uids = leaders.map(({ value }) => value.uid);
  return { who, people: await withNames(ports, uids) };
}

async function withNames({ idTokens }: Pick<AccessPorts, 'idTokens'>, uids: readonly string[]) {
  const profiles = await idTokens.profiles(uids);
  return uids.map((uid) => {
    const name = profiles.get(uid)?.name;
    return { uid, ...(name !== undefined && { name }) };
  });
}
