/** The caller: principals and roles. Source: docs/semantics.md#who-may-do-what. */
import { MusterError } from '../../kernel/errors.ts';
import type { Link } from './credential.ts';
import type { Person } from './people.ts';
import { hasRole, ROLES, type Role, type WorkspaceAccess, weaker } from './role.ts';

/**
 * An authenticated caller.
 *
 * `uid` is the Firebase Auth uid that security rules see: a person's own, or `agent:<agentId>`.
 * `ownerUid` is the person whose to-dos the caller acts on: an agent's owner, or the person.
 * `maxRole` bounds what the caller may do anywhere: an agent's own role. A person's is `admin`, which bounds nothing.
 * `owner` says what that person may do, where: a caller may never do more.
 * `toolsets`, where present, are the only toolsets that the caller may use; `heldTo` is the only workspace.
 * `readonly`: it may change nothing.
 * `workspace` is the agent's home, which the URL may override.
 * `lineage`: the credentials through which the caller's was registered, outermost first, and the caller's own. Absent
 * for a person. What the caller makes remembers it.
 * `grant`: the caller is an app that its owner has signed in from, or was registered by one.
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
  readonly grant?: GrantOfCaller;
  /** There were messages to the agent when its credential was checked. */
  readonly has_messages?: true;
  /** A person's address, where it is verified: invitations go by it. */
  readonly email?: string;
}

export interface GrantOfCaller {
  readonly id: string;
  /** The address that the caller's access token is good for, and all below it; absent where it came with a key. */
  readonly resource?: string;
}

/** What a person may do, where. */
export interface PersonRoles extends Pick<Person, 'workspaces'> {
  /** The role that the deployment gives them: they have it in every open workspace. */
  readonly role?: Role;
  /** The workspaces that there are beside `default`, which is open. */
  readonly access: Readonly<Record<string, WorkspaceAccess>>;
  /** Those in which some calls take an approval. */
  readonly asking?: Readonly<Record<string, boolean>>;
}

function strongest(roles: readonly (Role | undefined)[]): Role | undefined {
  return ROLES.findLast((role) => roles.includes(role));
}

/**
 * What the caller may do in a workspace: the weaker of what its owner and what itself may; undefined where nothing.
 * Where a workspace is yet to be opened, whoever leads the deployment or administers it may do what they will.
 */
export function roleIn({ maxRole, owner, held_to }: Principal, workspace: string): Role | undefined {
  if (held_to !== undefined && held_to !== workspace) return undefined;
  const role = personsRoleIn(owner, workspace);
  return role && weaker(maxRole, role);
}

export function personsRoleIn(
  { role, workspaces, access }: PersonRoles,
  workspace: string,
): Role | undefined {
  switch (accessOf(access, workspace)) {
    case 'open':
      return strongest([role, named(workspaces, workspace)]);
    case 'private':
      return named(workspaces, workspace);
    case undefined:
      return role !== undefined && hasRole(role, 'leader') ? role : undefined;
  }
}

/** Undefined where there is no such workspace. */
export function accessOf(access: PersonRoles['access'], workspace: string): WorkspaceAccess | undefined {
  if (workspace === DEFAULT_WORKSPACE) return 'open';
  return named(access, workspace);
}

/** Whether some calls take an approval in a workspace. */
export function asksIn({ asking = {} }: PersonRoles, workspace: string): boolean {
  return named(asking, workspace) ?? false;
}

/** The existing workspaces, `default` first and the others by name, with who may come in. */
export function knownWorkspaces({
  access,
}: Pick<PersonRoles, 'access'>): readonly (readonly [string, WorkspaceAccess])[] {
  const others = Object.entries(access).filter(([workspace]) => workspace !== DEFAULT_WORKSPACE);
  return [[DEFAULT_WORKSPACE, 'open'], ...others.sort(([one], [other]) => (one < other ? -1 : 1))];
}

/** A workspace may have a name that every object has. */
function named<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

/** What the caller may do with what is nobody's but its owner's: the most that it may do anywhere. */
export function ownRole({ maxRole, owner, held_to }: Principal): Role | undefined {
  const roles = Object.entries(owner.workspaces).map(([workspace, role]) =>
    held_to === undefined || held_to === workspace ? role : undefined,
  );
  const isHeldAway = held_to !== undefined && accessOf(owner.access, held_to) === 'private';
  const role = strongest([isHeldAway ? undefined : owner.role, ...roles]);
  return role && weaker(maxRole, role);
}

/** Where a role counts. `workspace`: the call's. `owner`: anywhere, as things say whose they are. `anyone`: no role. */
export type Scope = 'workspace' | 'owner' | 'anyone';

/** What the caller may do, by where it is asked. */
export function rolesOf(principal: Principal, workspace: string): Readonly<Record<Scope, Role | undefined>> {
  return { workspace: roleIn(principal, workspace), owner: ownRole(principal), anyone: 'admin' };
}

/** What the caller's rights are made of: another text where they may be others. */
export function rightsOf({ maxRole, owner, toolsets, held_to, readonly }: Principal): string {
  const open = Object.keys(owner.access).filter((workspace) => owner.access[workspace] === 'open');
  const members = Object.entries(owner.workspaces).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([maxRole, owner.role, members, open.sort(), toolsets, held_to, readonly]);
}

/** Whether the caller administers the deployment; a credential that is held to one workspace does not. */
export function isAdmin({ maxRole, owner, held_to }: Principal): boolean {
  return maxRole === 'admin' && owner.role === 'admin' && held_to === undefined;
}

/** An agent's Firebase Auth uid, as security rules see it. */
export function agentUid(agentId: string): string {
  return `agent:${agentId}`;
}

/** On whose behalf a database is read, written or watched: the security rules decide about this one. */
export interface Caller {
  readonly principal: Principal;
  /** The bearer credential of the call: a person's ID token, or an agent's own credential. */
  readonly credential: string;
}

export const WORKSPACE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** The workspace of callers who name none. */
export const DEFAULT_WORKSPACE = 'default';

/** The same for a workspace that is not there and for one that is not the caller's. */
export function noRoleIn(workspace: string, heldTo?: string): MusterError {
  const held = heldTo === undefined ? '' : ` Your credential is held to the workspace "${heldTo}".`;
  return new MusterError('FORBIDDEN', `You have no role in the workspace "${workspace}".${held}`, {
    reason: 'NO_ROLE',
    suggestion:
      'access.whoami shows where you have one: name it in the URL, as in ?workspace=alpha. Its leaders can let you in.',
  });
}
