/** Principals and their roles. Source: docs/semantics.md#permissions. */
import { MusterError } from '../../kernel/errors.ts';
import type { Link } from './credential.ts';
import type { Person } from './people.ts';
import { hasRole, ROLES, type Role, type WorkspaceAccess, weakerOf } from './role.ts';

/**
 * Authenticated caller.
 *
 * `uid`: Firebase Auth uid in security rules: a person's own, or `agent:<agentId>`.
 * `owner_uid`: the person whose to-dos the caller acts on. For an agent, its owner. For a person, that person.
 * `maxRole`: maximum role in every workspace. For an agent, its own role. For people, `admin`, which limits nothing.
 * `owner`: roles of the person `owner_uid`, which the caller never exceeds.
 * `toolsets`: the only allowed toolsets, if present. `held_to`: the only allowed workspace.
 * `readonly`: the caller cannot change anything.
 * `workspace`: the agent's home, which the URL may override.
 * `lineage`: the caller's credential, after the credentials through which it was registered, outermost first. Absent
 * for a person. Credentials and invitations that the caller creates store it.
 * `grant`: the caller is a connected app, or was registered by one.
 */
export interface Principal {
  readonly uid: string;
  readonly kind: 'agent' | 'person';
  readonly agent_id?: string;
  readonly owner_uid: string;
  readonly maxRole: Role;
  readonly owner: PersonRoles;
  readonly toolsets?: readonly string[];
  readonly held_to?: string;
  readonly readonly?: true;
  readonly workspace?: string;
  readonly lineage?: readonly Link[];
  readonly grant?: {
    readonly id: string;
    /** URL for which the access token is valid, including all paths below the URL; absent for agent credentials. */
    readonly resource?: string;
  };
  /** Whether the agent had unread messages when its credential was last read. */
  readonly has_messages?: true;
  /** Verified email address of a person. Invitations name people by their addresses. */
  readonly email?: string;
}

export interface PersonRoles extends Pick<Person, 'workspaces'> {
  /** Deployment role. It counts in every open workspace. */
  readonly role?: Role;
  /** Access of all workspaces except `default`, which is always open. */
  readonly access: Readonly<Record<string, WorkspaceAccess>>;
  /** Workspaces that have approval rules. */
  readonly asking?: Readonly<Record<string, boolean>>;
}

/** All toolsets, in the order in which they are listed. */
export const TOOLSETS = [
  'onboarding',
  'access',
  'system',
  'firebase',
  'github',
  'coordination',
  'todo',
  'orchestration',
  'coding',
  'inbox',
] as const;

/** Scopes that clients can request. The person chooses the app's toolsets, role and workspace. */
export const SCOPES = { read: 'muster:read', write: 'muster:write' } as const;
export const EVERY_SCOPE = `${SCOPES.read} ${SCOPES.write}`;

function strongest(roles: readonly (Role | undefined)[]): Role | undefined {
  return ROLES.findLast((role) => roles.includes(role));
}

/**
 * Returns the caller's role in a workspace: the weaker of `maxRole` and the owner's role; undefined if it has none.
 * In a workspace that does not exist yet, deployment leaders and admins have their role.
 */
export function roleIn({ maxRole, owner, held_to }: Principal, workspace: string): Role | undefined {
  if (held_to !== undefined && held_to !== workspace) return undefined;
  const role = personsRoleIn(owner, workspace);
  return role && weakerOf(maxRole, role);
}

export function hasRoleIn(principal: Principal, workspace: string, minimum: 'worker' | 'leader'): boolean {
  return hasRole(roleIn(principal, workspace) ?? 'viewer', minimum);
}

export function personsRoleIn({ role, workspaces, access }: PersonRoles, workspace: string): Role | undefined {
  switch (accessOf(access, workspace)) {
    case 'open':
      return strongest([role, named(workspaces, workspace)]);
    case 'private':
      return named(workspaces, workspace);
    case undefined:
      return role !== undefined && hasRole(role, 'leader') ? role : undefined;
  }
}

/** Returns the access of a workspace; undefined if the workspace does not exist. */
export function accessOf(access: PersonRoles['access'], workspace: string): WorkspaceAccess | undefined {
  if (workspace === DEFAULT_WORKSPACE) return 'open';
  return named(access, workspace);
}

/** Returns whether a workspace has approval rules. */
export function approvalRulesIn({ asking = {} }: PersonRoles, workspace: string): boolean {
  return named(asking, workspace) ?? false;
}

/** Returns all workspaces with their access: `default` first, then the others by name. */
export function knownWorkspaces({
  access,
}: Pick<PersonRoles, 'access'>): readonly (readonly [string, WorkspaceAccess])[] {
  const others = Object.entries(access).filter(([workspace]) => workspace !== DEFAULT_WORKSPACE);
  return [[DEFAULT_WORKSPACE, 'open'], ...others.sort(([one], [other]) => (one < other ? -1 : 1))];
}

/** Reads an own property of the record, because a workspace may have the name of an inherited property. */
function named<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Returns the caller's role for data that belongs to its owner: the caller's strongest role in any workspace. */
export function ownRole({ maxRole, owner, held_to }: Principal): Role | undefined {
  const roles = Object.entries(owner.workspaces).map(([workspace, role]) =>
    held_to === undefined || held_to === workspace ? role : undefined,
  );
  const isHeldAway = held_to !== undefined && accessOf(owner.access, held_to) === 'private';
  const role = strongest([isHeldAway ? undefined : owner.role, ...roles]);
  return role && weakerOf(maxRole, role);
}

/** Where the role counts. `workspace`: the call's workspace. `owner`: any workspace. `anyone`: no role is needed. */
export type Scope = 'workspace' | 'owner' | 'anyone';

/** Returns the role that the caller has for each scope. */
export function rolesOf(principal: Principal, workspace: string): Readonly<Record<Scope, Role | undefined>> {
  return { workspace: roleIn(principal, workspace), owner: ownRole(principal), anyone: 'admin' };
}

/** Returns a text that identifies the caller's rights. Two callers with different rights have different texts. */
export function rightsOf({ maxRole, owner, toolsets, held_to, readonly }: Principal): string {
  const open = Object.keys(owner.access).filter((workspace) => owner.access[workspace] === 'open');
  const members = Object.entries(owner.workspaces).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([maxRole, owner.role, members, open.sort(), toolsets, held_to, readonly]);
}

/** Returns whether the caller is an admin. A caller whose credential is restricted to one workspace is not. */
export function isAdmin({ maxRole, owner, held_to }: Principal): boolean {
  return maxRole === 'admin' && owner.role === 'admin' && held_to === undefined;
}

/** Returns an agent's uid in Firebase Auth, which security rules read. */
export function agentUid(agentId: string): string {
  return `agent:${agentId}`;
}

/** Caller for whom a database is read or written. The security rules apply to this caller. */
export interface Caller {
  readonly principal: Principal;
  /** Credential that the call sent: a person's ID token, or an agent's own credential. */
  readonly credential: string;
}

export const WORKSPACE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const WORKSPACE_FORM = 'expected 1 to 64 letters, digits, "-" or "_", starting with a letter or digit';

/** Workspace of calls that name no workspace. */
export const DEFAULT_WORKSPACE = 'default';

/** Returns the error if the caller has no role in a workspace, without revealing whether the workspace exists. */
export function noRoleIn(workspace: string, heldTo?: string): MusterError {
  const held = heldTo === undefined ? '' : ` Your credential is restricted to the workspace "${heldTo}".`;
  return new MusterError('FORBIDDEN', `You have no role in the workspace "${workspace}".${held}`, {
    reason: 'NO_ROLE',
    suggestion:
      'Add a workspace that access.whoami lists to the URL, as in ?workspace=alpha, or ask a leader of the workspace for an invitation.',
  });
}
