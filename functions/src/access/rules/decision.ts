/** Whether the security rules let a caller do something, and why. Source: docs/data-model.md. */
import {
  accessOf,
  DEFAULT_WORKSPACE,
  isAdmin,
  ownRole,
  type Principal,
  personsRoleIn,
  roleIn,
} from '../../identity/rules/principal.ts';
import { hasRole, type Role } from '../../identity/rules/role.ts';
import { keyOf } from '../../kernel/ids.ts';
import {
  type DataQuestion,
  type Least,
  type MatchedPermission,
  type Permission,
  permissionFor,
} from './permissions.ts';

export interface AccessQuestion extends DataQuestion {
  readonly operation: 'read' | 'write' | 'push';
}

/** What a stored document says of itself, or a query asks for by `where`. */
export interface Subject {
  readonly workspace?: string | null;
  readonly owner?: string;
  readonly otherOwner?: string;
}

/** What the row goes by, of what is stored there. What names no workspace in the Realtime Database is `default`'s. */
export function subjectIn(
  { database, where, ownerField, otherOwnerField }: Permission,
  data: Readonly<Record<string, unknown>>,
): Subject {
  const named = typeof where === 'object' && 'field' in where ? data[where.field] : undefined;
  const workspace = named === undefined && database === 'realtime' ? null : named;
  const owner = ownerField === undefined ? undefined : data[ownerField];
  const otherOwner = otherOwnerField === undefined ? undefined : data[otherOwnerField];
  return {
    ...((typeof workspace === 'string' || workspace === null) && { workspace }),
    ...(typeof owner === 'string' && { owner }),
    ...(typeof otherOwner === 'string' && { otherOwner }),
  };
}

/**
 * Where a caller's role in a workspace comes from: the owner's membership; the deployment, in an open workspace or one
 * that is yet to be opened; the agent's own role, where that is weaker; a credential that may only read.
 * Or why it has none: `held` to another workspace, or `none`.
 */
export type RoleSource = 'membership' | 'deployment' | 'own' | 'readonly' | 'held' | 'none';

export interface SourcedRole {
  readonly role?: Role;
  readonly from: RoleSource;
}

export interface AccessDecision {
  readonly isAllowed: boolean;
  /** The row that decides. */
  readonly permission: Permission;
  readonly needs: Least;
  /** Where the caller's role counts, as far as the caller may know of it. */
  readonly workspace?: string;
  /** The caller's role there, or the most that it has anywhere. */
  readonly role?: Role;
  readonly from?: RoleSource;
  /** Sentences. They are the same for what is not there and for what is not the caller's. */
  readonly reason: string;
}

type Answer = Omit<AccessDecision, 'permission' | 'needs'>;

/** @param subject undefined where there is no document that says whose it is */
export function decideAccess(
  principal: Principal,
  question: AccessQuestion,
  subject: Subject = {},
): AccessDecision {
  const found = permissionFor(question);
  const { permission } = found;
  const needs = question.operation === 'read' ? permission.reads : permission.writes;
  return { permission, needs, ...answered(principal, question, { ...found, needs, subject }) };
}

interface Case extends MatchedPermission {
  readonly needs: Least;
  readonly subject: Subject;
}

function answered(principal: Principal, { operation }: AccessQuestion, asked: Case): Answer {
  const { permission, needs } = asked;
  const closed = closedTo(operation, asked);
  if (closed !== undefined || needs === 'nobody') return refused(closed ?? NOT_YOURS);
  if (operation === 'read' && permission.spansWorkspaces && principal.held_to !== undefined)
    return refused(SPANS_WORKSPACES);
  if (needs === 'owner' || needs === 'owner and agents') return asOwner(principal, asked, needs === 'owner');
  if (operation === 'read' && permission.ownerField !== undefined) {
    const answer = asOwner(principal, asked, false);
    if (answer.isAllowed) return answer;
  }
  return inWorkspace(principal, needs, asked);
}

/** Why nobody may, whoever they are. */
function closedTo(operation: AccessQuestion['operation'], asked: Case): string | undefined {
  const { permission, needs, isList } = asked;
  if (needs === 'nobody') {
    const { keeper } = permission;
    const server = keeper === undefined ? 'Nothing is kept there.' : `The server keeps it: ${keeper}.`;
    return `Nobody ${operation === 'read' ? 'reads' : 'writes'} this directly, whatever their role. ${server}`;
  }
  if (isList && operation === 'write') return 'A list is not written as a whole: name one of it.';
  if (isList && operation === 'read' && permission.unlisted)
    return 'All of these are listed to nobody: name one.';
  return undefined;
}

function asOwner(principal: Principal, asked: Case, isAlone: boolean): Answer {
  const { uid, owner_uid } = principal;
  const { permission, variables, subject } = asked;
  const owners =
    permission.ownerField === undefined ? [variables.get('uid')] : [subject.owner, subject.otherOwner];
  const named = (name: string) => (permission.database === 'realtime' ? keyOf(name) : name);
  const isOwn = owners.includes(named(uid));
  if (!isOwn && (isAlone || !owners.includes(named(owner_uid)))) return refused(NOT_YOURS);
  if (isHeldElsewhere(principal, asked) || isOut(principal, asked)) return refused(NOT_YOURS);
  const role = ownRole(principal);
  if (role === undefined && permission.where !== 'nowhere') return refused(NO_ROLE_ANYWHERE);
  const reason = isOwn ? 'It is yours.' : "It is your owner's, for whom you act.";
  return { isAllowed: true, reason, ...(role !== undefined && { role }) };
}

/** Whether the thing belongs to a workspace too, and the caller's credential is held to another. */
function isHeldElsewhere({ held_to }: Principal, { permission: { where }, subject }: Case): boolean {
  if (held_to === undefined || typeof where === 'string' || !('field' in where)) return false;
  return held_to !== (subject.workspace === null ? DEFAULT_WORKSPACE : subject.workspace);
}

/** Whether its owner needs a role in its workspace, and the caller has none there. */
function isOut(principal: Principal, asked: Case): boolean {
  const { ownerNeeds } = asked.permission;
  if (ownerNeeds === undefined) return false;
  const workspace = workspaceOf(principal, asked);
  const role = workspace === undefined ? undefined : roleIn(principal, workspace);
  return role === undefined || !hasRole(role, ownerNeeds);
}

function inWorkspace(principal: Principal, needs: Role, asked: Case): Answer {
  const { where } = asked.permission;
  if (where === 'deployment') {
    const allowed = isAdmin(principal);
    return {
      isAllowed: allowed,
      reason: `Only ${needs}s of the deployment may; you are ${allowed ? '' : 'not '}one.`,
    };
  }
  if (where === 'anywhere' || where === 'nowhere') {
    const role = ownRole(principal);
    if (role === undefined) return refused(NO_ROLE_ANYWHERE);
    const reason = `It takes the role ${needs} in any workspace; you have ${role}.`;
    return { isAllowed: hasRole(role, needs), role, reason };
  }
  const workspace = workspaceOf(principal, asked);
  if (workspace === undefined) return refused(NOT_THERE);
  const { role, from } = sourcedRole(principal, workspace);
  const isNamed = typeof where === 'string' || !('field' in where);
  if (role === undefined) {
    return isNamed
      ? { isAllowed: false, workspace, from, reason: `${noRoleIn(workspace)}${WORDS[from]}` }
      : { isAllowed: false, reason: NOT_THERE };
  }
  const reason = `It takes the role ${needs} in the workspace "${workspace}"; you have ${role} there${WORDS[from]}`;
  return { isAllowed: hasRole(role, needs), workspace, role, from, reason };
}

/** Undefined where the document does not say, or is not there. */
function workspaceOf({ owner }: Principal, { permission, variables, subject }: Case): string | undefined {
  const { where } = permission;
  if (typeof where === 'string') return DEFAULT_WORKSPACE;
  if ('variable' in where) return variables.get(where.variable);
  if ('field' in where) return subject.workspace === null ? DEFAULT_WORKSPACE : subject.workspace;
  const first = variables.get(where.first) ?? '';
  return accessOf(owner.access, first) === undefined ? DEFAULT_WORKSPACE : first;
}

/** The caller's role in a workspace, as the security rules see it, and where it comes from. */
export function sourcedRole(principal: Principal, workspace: string): SourcedRole {
  const { owner, held_to, maxRole, readonly } = principal;
  if (held_to !== undefined && held_to !== workspace) return { from: 'held' };
  const persons = personsRoleIn(owner, workspace);
  const role = roleIn(principal, workspace);
  if (persons === undefined || role === undefined) return { from: 'none' };
  if (readonly && role !== 'viewer') return { role: 'viewer', from: 'readonly' };
  if (persons !== role) return { role: maxRole, from: 'own' };
  const membership = Object.hasOwn(owner.workspaces, workspace) ? owner.workspaces[workspace] : undefined;
  return { role, from: membership === role ? 'membership' : 'deployment' };
}

/** How a sentence about a role ends. */
const WORDS: Readonly<Record<RoleSource, string>> = {
  membership: ', by membership.',
  deployment: ', by the role that the deployment gives.',
  own: ": your agent's own role is weaker than its owner's.",
  readonly: ': your credential may only read.',
  held: ': your credential is held to another workspace.',
  none: '.',
};

function noRoleIn(workspace: string): string {
  return `You have no role in the workspace "${workspace}"`;
}

const NOT_YOURS = "It is not there, or it is somebody else's.";

const NOT_THERE = 'It is not there, or it is in a workspace in which you have no role.';

const SPANS_WORKSPACES =
  'It holds data of several workspaces, and your credential is restricted to one. Use a tool: it returns the data of that one.';

const NO_ROLE_ANYWHERE = 'You have no role in any workspace.';

function refused(reason: string): Answer {
  return { isAllowed: false, reason };
}
