/** Decides whether the security rules allow a read or write, and explains why. Source: docs/data-model.md. */
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
  type MatchedPermission,
  type MinimumRole,
  type Permission,
  permissionFor,
} from './permissions.ts';

export interface AccessQuestion extends DataQuestion {
  readonly operation: 'read' | 'write' | 'push';
}

/** Workspace and owners of a document, from its fields or from the `where` of a query. */
export interface Subject {
  readonly workspace?: string | null;
  readonly owner?: string;
  readonly otherOwner?: string;
}

/** Returns the workspace and owners of a document. A Realtime Database node without a workspace is in `default`. */
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
 * Reason for a caller's role in a workspace. `deployment`: the workspace is open or not created yet, so the
 * deployment role counts. `own`: the agent's own role is weaker. `readonly`: the credential is read-only. Without a
 * role, the reason is `held` if the credential is restricted to another workspace, otherwise `none`.
 */
export type RoleSource = 'membership' | 'deployment' | 'own' | 'readonly' | 'held' | 'none';

export interface AccessDecision {
  readonly isAllowed: boolean;
  readonly permission: Permission;
  readonly needs: MinimumRole;
  /** Workspace in which the caller needs the role; absent if the workspace is hidden from the caller. */
  readonly workspace?: string;
  /** Caller's role in that workspace, or in any workspace if no workspace matters. */
  readonly role?: Role;
  readonly from?: RoleSource;
  /** Explanation in full sentences. It does not reveal whether a hidden document exists. */
  readonly reason: string;
}

type Decision = Omit<AccessDecision, 'permission' | 'needs'>;

/** Decides whether a caller may read or write. @param subject empty if there is no document */
export function decideAccess(principal: Principal, question: AccessQuestion, subject: Subject = {}): AccessDecision {
  const found = permissionFor(question);
  const { permission } = found;
  const needs = question.operation === 'read' ? permission.reads : permission.writes;
  return { permission, needs, ...decide(principal, question, { ...found, needs, subject }) };
}

interface DecisionCase extends MatchedPermission {
  readonly needs: MinimumRole;
  readonly subject: Subject;
}

function decide(principal: Principal, { operation }: AccessQuestion, asked: DecisionCase): Decision {
  const { permission, needs } = asked;
  const closed = deniedFor(operation, asked);
  if (closed !== undefined || needs === 'no one') return refused(closed ?? NOT_OWNER);
  if (operation === 'read' && permission.spansWorkspaces && principal.held_to !== undefined)
    return refused(SPANS_WORKSPACES);
  if (needs === 'owner' || needs === 'owner and agents') return asOwner(principal, asked, needs === 'owner');
  if (operation === 'read' && permission.ownerField !== undefined) {
    const answer = asOwner(principal, asked, false);
    if (answer.isAllowed) return answer;
  }
  return inWorkspace(principal, needs, asked);
}

/** Returns why no caller may do the operation; undefined if some callers may. */
function deniedFor(operation: AccessQuestion['operation'], asked: DecisionCase): string | undefined {
  const { permission, needs, isList } = asked;
  if (needs === 'no one') {
    const { keeper } = permission;
    const server = keeper === undefined ? 'Nothing is stored there.' : `It is written by: ${keeper}.`;
    return `No role can ${operation === 'read' ? 'read' : 'write'} this path directly. ${server}`;
  }
  if (isList && operation === 'write') return 'A whole list cannot be written. Use the path of one entry.';
  if (isList && operation === 'read' && permission.unlisted)
    return 'This list cannot be read as a whole. Use the path of one entry.';
  return undefined;
}

function asOwner(principal: Principal, asked: DecisionCase, isOnlyOwner: boolean): Decision {
  const { uid, owner_uid } = principal;
  const { permission, variables, subject } = asked;
  const owners = permission.ownerField === undefined ? [variables.get('uid')] : [subject.owner, subject.otherOwner];
  const named = (name: string) => (permission.database === 'realtime' ? keyOf(name) : name);
  const isOwn = owners.includes(named(uid));
  if (!isOwn && (isOnlyOwner || !owners.includes(named(owner_uid)))) return refused(NOT_OWNER);
  if (isRestrictedElsewhere(principal, asked) || lacksOwnerRole(principal, asked)) return refused(NOT_OWNER);
  const role = ownRole(principal);
  if (role === undefined && permission.where !== 'nowhere') return refused(NO_ROLE_ANYWHERE);
  const reason = isOwn ? 'You own this data.' : 'Your owner owns this data, and you act for your owner.';
  return { isAllowed: true, reason, ...(role !== undefined && { role }) };
}

function isRestrictedElsewhere({ held_to }: Principal, { permission: { where }, subject }: DecisionCase): boolean {
  if (held_to === undefined || typeof where === 'string' || !('field' in where)) return false;
  return held_to !== (subject.workspace === null ? DEFAULT_WORKSPACE : subject.workspace);
}

/** Returns whether the owner lacks the role that owners need to keep access to the item. */
function lacksOwnerRole(principal: Principal, asked: DecisionCase): boolean {
  const { ownerNeeds } = asked.permission;
  if (ownerNeeds === undefined) return false;
  const workspace = workspaceOf(principal, asked);
  const role = workspace === undefined ? undefined : roleIn(principal, workspace);
  return role === undefined || !hasRole(role, ownerNeeds);
}

function inWorkspace(principal: Principal, needs: Role, asked: DecisionCase): Decision {
  const { where } = asked.permission;
  if (where === 'deployment') {
    const allowed = isAdmin(principal);
    return {
      isAllowed: allowed,
      reason: `Requires the deployment role ${needs}, which you ${allowed ? '' : 'do not '}have.`,
    };
  }
  if (where === 'anywhere' || where === 'nowhere') {
    const role = ownRole(principal);
    if (role === undefined) return refused(NO_ROLE_ANYWHERE);
    const reason = `Requires the role ${needs} in at least one workspace; your highest role is ${role}.`;
    return { isAllowed: hasRole(role, needs), role, reason };
  }
  const workspace = workspaceOf(principal, asked);
  if (workspace === undefined) return refused(HIDDEN);
  const { role, from } = sourcedRole(principal, workspace);
  const isNamed = typeof where === 'string' || !('field' in where);
  if (role === undefined) {
    return isNamed
      ? { isAllowed: false, workspace, from, reason: `You have no role in the workspace "${workspace}"${WORDS[from]}` }
      : { isAllowed: false, reason: HIDDEN };
  }
  const reason = `Requires the role ${needs} in the workspace "${workspace}"; your role there is ${role}${WORDS[from]}`;
  return { isAllowed: hasRole(role, needs), workspace, role, from, reason };
}

/** Returns the workspace in which a role is needed; undefined if the document is missing or states no workspace. */
function workspaceOf({ owner }: Principal, { permission, variables, subject }: DecisionCase): string | undefined {
  const { where } = permission;
  if (typeof where === 'string') return DEFAULT_WORKSPACE;
  if ('variable' in where) return variables.get(where.variable);
  if ('field' in where) return subject.workspace === null ? DEFAULT_WORKSPACE : subject.workspace;
  const first = variables.get(where.first) ?? '';
  return accessOf(owner.access, first) === undefined ? DEFAULT_WORKSPACE : first;
}

/** Returns the caller's role in a workspace, as the security rules determine it, with the reason for the role. */
export function sourcedRole(
  principal: Principal,
  workspace: string,
): { readonly role?: Role; readonly from: RoleSource } {
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

/** For each reason for a role, the last part of the sentence about the role. */
const WORDS: Readonly<Record<RoleSource, string>> = {
  membership: ', as a member.',
  deployment: ', from your deployment role.',
  own: ", because your agent's own role is weaker than its owner's.",
  readonly: ', because your credential is read-only.',
  held: ', because your credential is restricted to another workspace.',
  none: '.',
};

const NOT_OWNER = 'The path does not exist, or its data belongs to someone else.';
const HIDDEN = 'The path does not exist, or it is in a workspace in which you have no role.';

const SPANS_WORKSPACES =
  'The path contains data of several workspaces, but your credential is restricted to one workspace. Use a tool: tools return only the data of your workspace.';

const NO_ROLE_ANYWHERE = 'You have no role in any workspace.';

function refused(reason: string): Decision {
  return { isAllowed: false, reason };
}

// Reasons why something does not go ahead. Source: docs/guides/access.md#why.

export interface WaitReason {
  /** A sentence about the cause. */
  readonly why: string;
  /** A sentence about what changes that: a call, or an action of a person. */
  readonly remedy: string;
}

/** Answer to the question why an item does not go ahead. */
export interface Progress {
  /** A sentence about the state of the item. */
  readonly state: string;
  readonly waits: readonly WaitReason[];
}

/** Explains an item for a caller. Throws MusterError NOT_FOUND also if the caller may not see the item. */
export type ExplainProgress = (caller: Principal, id: string) => Promise<Progress>;
