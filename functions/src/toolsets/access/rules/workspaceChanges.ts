/** Creates workspaces, and changes their access, repositories, routing and approval rules. */
import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import { DEFAULT_PROOF, type ProofSettings } from '../../../access/rules/proofSettings.ts';
import { type ApprovalRule, isListed, type Routing, type StoredWorkspace } from '../../../access/rules/workspace.ts';
import { firstWorkspaceChanges, nameNotAvailable, requireAvailableName } from '../../../access/rules/workspaces.ts';
import {
  accessOf,
  DEFAULT_WORKSPACE,
  isAdmin,
  type Principal,
  personsRoleIn,
} from '../../../identity/rules/principal.ts';
import { WORKSPACE_ACCESS, type WorkspaceAccess } from '../../../identity/rules/role.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import { cannotUndoError, restoredFields } from '../../../kernel/effects.ts';
import { MusterError, unknownName } from '../../../kernel/errors.ts';
import { canonicalJson } from '../../../kernel/json.ts';
import { Service } from '../../../kernel/ports.ts';
import { administers, deploymentError, requireAllowed, workspaceError } from './administration.ts';

type SettingsChange = Extract<
  AccessChange,
  { readonly kind: 'setApprovalRules' | 'listRepositories' | 'routeWorkspace' | 'setProof' }
>;

export interface WorkspaceSettings {
  readonly workspace: string;
  readonly access: WorkspaceAccess;
  readonly repositories: readonly string[];
  readonly routing?: Routing;
  readonly approvals?: readonly ApprovalRule[];
  readonly proof?: ProofSettings;
  /** Uid of the leader that this change added, if the workspace had no leader. */
  readonly leader?: string;
}

export interface UpdatedWorkspace extends WorkspaceSettings {
  /** False if the workspace already had all settings of the update. */
  readonly isChanged: boolean;
}

export interface WorkspaceUpdate {
  readonly access?: WorkspaceAccess | undefined;
  readonly repositories?: readonly string[] | undefined;
  readonly routing?: RoutingUpdate | undefined;
  readonly approvals?: readonly ApprovalRule[] | undefined;
  readonly proof?: ProofSettings | undefined;
}

interface WorkspacePorts extends AccessPorts {
  /** Returns the repositories that the deployment's parameters list for open workspaces. */
  readonly openRepositories: () => readonly string[];
  readonly workspaceFields: FieldsCodec<StoredWorkspace>;
  /** Names of the hosted agents. */
  readonly hostedAgents: () => readonly string[];
}

export class WorkspaceAdministration extends Service<WorkspacePorts> {
  /** @throws MusterError FORBIDDEN; CONFLICT if the name is taken, without revealing by which workspace */
  async create(
    caller: Principal,
    { name, access, repositories }: Pick<WorkspaceSettings, 'access' | 'repositories'> & { readonly name: string },
    recordResponse: RecordResponse<WorkspaceSettings>,
  ): Promise<WorkspaceSettings> {
    const { people, workspaces, store, clock, randomness } = this.ports;
    const principal = await requireAllowed(this.ports, caller, deploymentError);
    const listed = distinct(repositories);
    this.requireReach(principal, [], listed);
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      if (name === DEFAULT_WORKSPACE || (await workspaces.find(name)) !== undefined) throw nameNotAvailable(name);
      await requireAvailableName(this.ports, name, await people.workspaces());
      const workspace = { repositories: listed, created_by: principal.uid, created_at: now };
      const outcome = { workspace: name, access, repositories: listed, leader: principal.owner_uid };
      const changes: AccessChange[] = [
        { kind: 'createWorkspace', name, workspace },
        ...firstWorkspaceChanges(principal, name, access, now),
      ];
      await store.commit(changes, recordResponse(outcome));
      return outcome;
    });
  }

  /** @throws MusterError FORBIDDEN, also if the workspace does not exist */
  async update(
    caller: Principal,
    workspace: string,
    wanted: WorkspaceUpdate,
    recordResponse: RecordResponse<UpdatedWorkspace>,
  ): Promise<UpdatedWorkspace> {
    const { store, randomness } = this.ports;
    const { access, repositories, routing, approvals, proof } = wanted;
    const principal = await requireAllowed(this.ports, caller, (one) => workspaceError(one, workspace, 'leader'));
    if ([access, repositories, routing, approvals, proof].every((one) => one === undefined))
      throw new MusterError('REQUIRED_FIELD', 'Nothing to update.', {
        field: 'access',
        reason: 'NOTHING_TO_CHANGE',
        suggestion: 'Set at least one of access, repositories, routing, approvals and proof.',
      });
    if (access === 'private' && workspace === DEFAULT_WORKSPACE)
      throw new MusterError('VALIDATION_ERROR', `The workspace "${DEFAULT_WORKSPACE}" is always open.`, {
        field: 'access',
        value: 'private',
        suggestion: 'Create a private workspace with access.create_workspace.',
      });
    this.requireHosted(routing);
    return retryOnConflict(randomness, async () => {
      const { entered, settings, outcome, version } = await this.decided(principal, workspace, wanted);
      const effective = settings.filter(changesAnything);
      const updated = { ...outcome, isChanged: entered.length + effective.length > 0 };
      // The version makes the commit fail if another call changed the settings after they were read.
      const changes = [...entered, ...effective.map((one, index) => (index === 0 ? { ...one, version } : one))];
      await store.commit(changes, recordResponse(updated));
      return updated;
    });
  }

  /**
   * Returns the changes that restore the settings to their state before an audited change.
   * @throws MusterError FORBIDDEN; CONFLICT with the reason CHANGED_SINCE or CANNOT_BE_UNDONE
   */
  readonly undoChanges = async (effect: AuditEffect, by: Principal): Promise<readonly AccessChange[]> => {
    const { people, workspaces, workspaceFields } = this.ports;
    const { workspace = '', before, after } = effect;
    const principal = await requireAllowed(this.ports, by, (one) => workspaceError(one, workspace, 'leader'));
    if (before === undefined || after === undefined) throw cannotUndoError(effect, 'Workspaces are permanent.');
    const [known, all] = await Promise.all([workspaces.find(workspace), people.workspaces()]);
    const access = accessOf(all, workspace);
    const fields = restoredFields(effect, { ...(known && workspaceFields.of(known.value)), access });
    const { approvals = [], repositories, proof = DEFAULT_PROOF, ...routed } = workspaceFields.from({ ...fields });
    const { pins, forbidden } = routingAfter(routed);
    const { entered, settings, version } = await this.decided(principal, workspace, {
      access: WORKSPACE_ACCESS.find((one) => one === before['access']),
      ...('approvals' in before && { approvals }),
      ...('repositories' in before && { repositories }),
      ...('proof' in before && { proof }),
      ...(('pinned_agents' in before || 'forbidden_agents' in before) && {
        routing: { pin: Object.fromEntries(pins.map(({ kind, agent }) => [kind, agent])), forbid: forbidden },
      }),
    });
    // If one commit restores several settings, only the change of the approval rules requires the version.
    const changes = settings.map((one) => (one.kind === 'setApprovalRules' ? { ...one, version } : one));
    return [...entered, ...changes];
  };

  /** @throws MusterError VALIDATION_ERROR if the routing names an agent that is not a hosted agent */
  private requireHosted({ pin = {}, forbid = [] }: RoutingUpdate = {}): void {
    const hosted = this.ports.hostedAgents();
    const pinned = Object.entries(pin).flatMap(([kind, name]) =>
      name === undefined ? [] : { at: `pin.${kind}`, name },
    );
    const named = [...pinned, ...forbid.map((name, index) => ({ at: `forbid.${index}`, name }))];
    const unknown = named.find(({ name }) => !hosted.includes(name));
    if (unknown !== undefined) throw unknownName('agent', unknown.name, hosted, `routing.${unknown.at}`);
  }

  /** Returns the changes that an update requires. @throws MusterError FORBIDDEN; NOT_FOUND for an unknown approver */
  private async decided(
    principal: Principal,
    workspace: string,
    { access, repositories, routing, approvals, proof }: WorkspaceUpdate,
  ) {
    const { people, workspaces } = this.ports;
    await this.requireMembers(workspace, { approvals, proof });
    const [known, all] = await Promise.all([workspaces.find(workspace), people.workspaces()]);
    const before = accessOf(all, workspace) ?? 'private';
    const entered = await this.accessChanges(principal, workspace, before, access ?? before);
    const { repositories: kept = [], approvals: demanded, proof: required } = known?.value ?? {};
    const listed = repositories === undefined ? kept : distinct(repositories);
    this.requireReach(principal, kept, listed);
    const named: SettingsChange = { kind: 'listRepositories', workspace, repositories: listed, before: kept };
    const [former, routed] = [routingAfter(known?.value), routingAfter(known?.value, routing)];
    const outcome: WorkspaceSettings = {
      workspace,
      access: access ?? before,
      repositories: listed,
      routing: routed,
      ...settingsOf({ approvals: approvals ?? demanded, proof: proof ?? required }),
      ...(entered.some(({ kind }) => kind === 'setMember') && { leader: principal.owner_uid }),
    };
    const route = { kind: 'routeWorkspace', workspace } as const;
    const settings: readonly SettingsChange[] = [
      ...(repositories === undefined ? [] : [named]),
      ...(approvals ? [{ kind: 'setApprovalRules', workspace, approvals, before: demanded ?? [] } as const] : []),
      ...(proof ? [{ kind: 'setProof', workspace, proof, before: required ?? DEFAULT_PROOF } as const] : []),
      ...(routing ? [{ ...route, routing: namedOf(routing, routed), before: namedOf(routing, former) }] : []),
    ];
    return { entered, settings, outcome, version: known?.version ?? null };
  }

  /** Requires that approvers, and people who confirm results, have a role in the workspace. @throws NOT_FOUND */
  private async requireMembers(workspace: string, { approvals = [], proof }: WorkspaceUpdate): Promise<void> {
    const confirming = proof?.defaults.flatMap(({ confirm = 'owner' }) => (confirm === 'owner' ? [] : confirm)) ?? [];
    for (const uid of new Set([...approvals.flatMap(({ asks }) => asks ?? []), ...confirming])) {
      if (personsRoleIn(await this.ports.roles.of(uid), workspace) !== undefined) continue;
      throw new MusterError('NOT_FOUND', `"${uid}" is not a member of the workspace "${workspace}".`, {
        field: confirming.includes(uid) ? 'proof.defaults' : 'approvals',
        value: uid,
        suggestion: 'access.list_members lists its members.',
      });
    }
  }

  /** Lets only admins add a repository that is not listed yet, because it may belong to another workspace. */
  private requireReach(principal: Principal, kept: readonly string[], listed: readonly string[]): void {
    const known = [...kept, ...this.ports.openRepositories()];
    const name = listed.find((one) => !isListed(known, one));
    if (name === undefined || isAdmin(principal)) return;
    throw new MusterError('FORBIDDEN', `Only a deployment admin can add "${name}" to a workspace.`, {
      field: 'repositories',
      value: name,
      reason: 'ROLE_TOO_WEAK',
      suggestion: 'Ask an admin to add the repository, or the operator to list it in GITHUB_REPOSITORIES.',
    });
  }

  /** Returns the changes of the access. A workspace that becomes private gets a leader if it has none. */
  private async accessChanges(
    principal: Principal,
    workspace: string,
    before: WorkspaceAccess,
    access: WorkspaceAccess,
  ): Promise<AccessChange[]> {
    if (access === before) return [];
    if (access === 'open') {
      if (!administers(principal, workspace)) await requireAllowed(this.ports, principal, deploymentError);
      return [{ kind: 'nameWorkspace', workspace, access, before }];
    }
    const isLed = (await this.ports.people.leaders(workspace, 1)).length > 0;
    if (!isLed) return firstWorkspaceChanges(principal, workspace, access, this.ports.clock.now());
    return [{ kind: 'nameWorkspace', workspace, access, before }];
  }
}

function settingsOf({ approvals, proof }: Pick<WorkspaceUpdate, 'approvals' | 'proof'>) {
  return { ...(approvals && { approvals }), ...(proof && { proof }) };
}

function changesAnything(change: SettingsChange): boolean {
  const { kind, before } = change;
  if (kind === 'setProof') return canonicalJson(change.proof) !== canonicalJson(before);
  const after =
    kind === 'listRepositories' ? change.repositories : kind === 'setApprovalRules' ? change.approvals : change.routing;
  return canonicalJson(after) !== canonicalJson(before);
}

/** Removes duplicates. Case is ignored, as in GitHub names. */
function distinct(repositories: readonly string[]): readonly string[] {
  return [...new Map([...repositories].reverse().map((one) => [one.toLowerCase(), one])).values()].reverse();
}

// Routing: which hosted agents a workspace uses, as its leaders set it. Source: docs/guides/models.md.

/** An update of the routing. Omitted fields stay unchanged. */
export interface RoutingUpdate {
  readonly pin?: Readonly<Record<string, string | undefined>> | undefined;
  readonly forbid?: readonly string[] | undefined;
}

/** Returns only those fields of a routing that an update sets. */
export function namedOf({ pin, forbid }: RoutingUpdate, { pins, forbidden }: Routing): Partial<Routing> {
  return { ...(pin && { pins }), ...(forbid && { forbidden }) };
}

/** Returns the updated routing. @throws MusterError VALIDATION_ERROR if an agent is pinned as well as forbidden */
export function routingAfter(
  before: Pick<StoredWorkspace, 'pinned_agents' | 'forbidden_agents'> | undefined,
  { pin, forbid }: RoutingUpdate = {},
): Routing {
  const pins =
    pin === undefined
      ? (before?.pinned_agents ?? [])
      : Object.entries(pin).flatMap(([kind, agent]) => (agent === undefined ? [] : [{ kind, agent }]));
  const forbidden = forbid === undefined ? (before?.forbidden_agents ?? []) : [...new Set(forbid)];
  const both = pins.find(({ agent }) => forbidden.includes(agent));
  if (both === undefined) return { pins, forbidden };
  const { agent, kind } = both;
  throw new MusterError('VALIDATION_ERROR', `"${agent}" cannot be both pinned for ${kind} and forbidden.`, {
    field: pin === undefined ? 'routing.forbid' : 'routing.pin',
    value: agent,
    reason: 'PINNED_AND_FORBIDDEN',
    suggestion: 'Send both pin and forbid, with the agent in only one of them. Each replaces its previous value.',
  });
}
