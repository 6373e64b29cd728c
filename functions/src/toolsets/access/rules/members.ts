/** The members of a workspace and their roles. Source: docs/decisions/0006-roles-and-registration.md. */
import { foldedEmail, invitationId } from '../../../access/rules/invitations.ts';
import type { OpenWorkCounts } from '../../../access/rules/leaving.ts';
import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { Member } from '../../../identity/rules/people.ts';
import { accessOf, noRoleIn, type Principal, personsRoleIn, roleIn } from '../../../identity/rules/principal.ts';
import { hasRole, type MemberRole, type Role } from '../../../identity/rules/role.ts';
import type { AuditEffect } from '../../../kernel/auditLog.ts';
import type { RecordResponse, Versioned } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import type { FieldsCodec } from '../../../kernel/documentCodec.ts';
import { restoredFields } from '../../../kernel/effects.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import { administers, requireAllowed, workspaceError } from './administration.ts';

export type MemberReference = { readonly uid: string } | { readonly email: string };

export interface RoleSet {
  readonly member: Member;
  /** The previous role; undefined if the person was not a member. */
  readonly was?: MemberRole;
}

export interface Removed {
  readonly workspace: string;
  readonly uid: string;
  readonly was: MemberRole;
  /** The role that the person still has in the workspace through the deployment. */
  readonly remains?: Role;
  /** Open work that will be cancelled. Undefined if the person has none, or can still work in the workspace. */
  readonly ends?: OpenWorkCounts;
}

interface MemberPorts extends AccessPorts {
  readonly memberFields: FieldsCodec<Member>;
  readonly openWork: (uid: string, workspace: string) => Promise<OpenWorkCounts>;
}

export class Members extends Service<MemberPorts> {
  /**
   * Lists a workspace's members with their profiles from Firebase Auth. Leaders and admins also get the pending
   * invitations, with the first page.
   * @throws MusterError FORBIDDEN, also if the workspace does not exist
   */
  async list(caller: Principal, workspace: string, limit: number, after: string | undefined) {
    const { people, idTokens, clock } = this.ports;
    const principal = await requireAllowed(this.ports, caller, (one) => workspaceError(one, workspace, 'viewer'));
    const isLeading = workspaceError(principal, workspace, 'leader') === undefined;
    const [{ items, more }, invitations] = await Promise.all([
      people.members(workspace, limit, after),
      isLeading && after === undefined ? people.invitationsTo(workspace) : undefined,
    ]);
    const profiles = await idTokens.profiles(items.map(({ uid }) => uid));
    const now = clock.now();
    return {
      access: accessOf(principal.owner.access, workspace) ?? 'private',
      members: items.map((member) => ({ ...member, ...profiles.get(member.uid) })),
      more,
      invitations: invitations?.filter(({ expires_at }) => expires_at > now),
    };
  }

  /** Sets a person's role. @throws MusterError FORBIDDEN; NOT_FOUND if the deployment does not know the person */
  async set(
    caller: Principal,
    workspace: string,
    { named, role }: { readonly named: MemberReference; readonly role: MemberRole },
    recordResponse: RecordResponse<RoleSet>,
  ): Promise<RoleSet> {
    const { people, store, clock, randomness } = this.ports;
    const principal = await requireAllowed(this.ports, caller, (one) => workspaceError(one, workspace, 'leader'));
    const uid = await this.uidOf(named, workspace);
    return retryOnConflict(randomness, async () => {
      const known = await people.member(workspace, uid);
      if (known === undefined) await this.requireKnown(principal, workspace, uid, named);
      const kept = await lastLeaderError(this.ports, { principal, workspace }, known, role);
      const changed = { uid, workspace, role, added_by: principal.uid, added_at: clock.now() };
      const isSame = known?.value.role === role;
      const member = isSame ? known.value : changed;
      const outcome = { member, ...(known && { was: known.value.role }) };
      const version = known?.version ?? null;
      const set: AccessChange = { kind: 'setMember', member, before: known?.value, version };
      await store.commit(isSame ? [] : [set, ...kept], recordResponse(outcome));
      return outcome;
    });
  }

  /** Ends a membership and a pending invitation. People can always leave. @throws MusterError FORBIDDEN; NOT_FOUND */
  async remove(
    caller: Principal,
    workspace: string,
    uid: string,
    recordResponse: RecordResponse<Removed>,
  ): Promise<Removed> {
    const { people, roles, store, randomness } = this.ports;
    const isOneself = caller.kind === 'person' && caller.uid === uid;
    const principal = isOneself
      ? caller
      : await requireAllowed(this.ports, caller, (one) => workspaceError(one, workspace, 'leader'));
    return retryOnConflict(randomness, async () => {
      const known = await people.member(workspace, uid);
      if (known === undefined) {
        const isIn = roleIn(principal, workspace) !== undefined || administers(principal, workspace);
        if (!isIn) throw noRoleIn(workspace);
        throw new MusterError('NOT_FOUND', `"${uid}" is not a member of the workspace "${workspace}".`, {
          field: 'uid',
          value: uid,
          suggestion: 'access.list_members lists the members. Only the operator can remove a role in the deployment.',
        });
      }
      const kept = await lastLeaderError(this.ports, { principal, workspace }, known, undefined);
      const { role, access } = await roles.of(uid);
      const remains = personsRoleIn({ workspaces: {}, access, ...(role && { role }) }, workspace);
      const ends = await this.endingWork(workspace, uid, remains);
      const outcome = { workspace, uid, was: known.value.role, ...(remains && { remains }), ...(ends && { ends }) };
      const { value: before, version } = known;
      const removed: AccessChange = { kind: 'removeMember', workspace, uid, before, version };
      const ended = await this.invitationOf(workspace, uid);
      await store.commit([removed, ...kept, ...ended], recordResponse(outcome));
      return outcome;
    });
  }

  /** Undoes a change, for leaders and admins. @throws MusterError FORBIDDEN; CONFLICT (reason CHANGED_SINCE) */
  readonly undoChange = async (effect: AuditEffect, by: Principal): Promise<readonly AccessChange[]> => {
    const { people, memberFields } = this.ports;
    const { workspace = '' } = effect;
    const principal = await requireAllowed(this.ports, by, (one) => workspaceError(one, workspace, 'leader'));
    const uid = effect.id.slice(workspace.length + 1);
    const known = await people.member(workspace, uid);
    const fields = restoredFields(effect, known && memberFields.of(known.value));
    const member = fields && memberFields.from(fields);
    const kept = await lastLeaderError(this.ports, { principal, workspace }, known, member?.role);
    if (member !== undefined)
      return [{ kind: 'setMember', member, before: known?.value, version: known?.version ?? null }, ...kept];
    if (known === undefined) return [];
    return [{ kind: 'removeMember', workspace, uid, before: known.value, version: known.version }, ...kept];
  };

  /** Returns the open work that the person may no longer do. It is cancelled later, after this commit. */
  private async endingWork(
    workspace: string,
    uid: string,
    remains: Role | undefined,
  ): Promise<OpenWorkCounts | undefined> {
    if (remains !== undefined && hasRole(remains, 'worker')) return undefined;
    const open = await this.ports.openWork(uid, workspace);
    return open.codingTasks + open.runs > 0 || open.more ? open : undefined;
  }

  /** Returns the change that ends a removed person's invitation, with which the person could join again. */
  private async invitationOf(workspace: string, uid: string): Promise<AccessChange[]> {
    const { people, idTokens, hashing } = this.ports;
    const email = (await idTokens.profiles([uid])).get(uid)?.email;
    if (email === undefined) return [];
    const id = invitationId(hashing, workspace, foldedEmail(email));
    const before = await people.invitation(id);
    return before === undefined ? [] : [{ kind: 'endInvitation', id, before }];
  }

  private async uidOf(named: MemberReference, workspace: string): Promise<string> {
    if ('uid' in named) return named.uid;
    const uid = await this.ports.idTokens.uidOf(foldedEmail(named.email));
    if (uid === undefined) throw notKnown(workspace, 'email');
    return uid;
  }

  /** Lets leaders name by uid only people with a role anywhere; admins can name everyone who has an account. */
  private async requireKnown(
    principal: Principal,
    workspace: string,
    uid: string,
    named: MemberReference,
  ): Promise<void> {
    const { idTokens, roles } = this.ports;
    if (administers(principal, workspace)) {
      if ((await idTokens.profiles([uid])).has(uid)) return;
    } else if ('uid' in named) {
      const { role, workspaces } = await roles.of(uid);
      if (role !== undefined || Object.keys(workspaces).length > 0) return;
    }
    throw notKnown(workspace, 'uid' in named ? 'uid' : 'email');
  }
}

/** Requires that a private workspace keeps a leader, unless the caller is an admin. @throws MusterError FORBIDDEN */
async function lastLeaderError(
  { people }: Pick<AccessPorts, 'people'>,
  { principal, workspace }: { readonly principal: Principal; readonly workspace: string },
  known: Versioned<Member> | undefined,
  role: MemberRole | undefined,
): Promise<AccessChange[]> {
  if (known?.value.role !== 'leader' || role === 'leader') return [];
  const access = accessOf(await people.workspaces(), workspace);
  if (access === 'open' || administers(principal, workspace)) return [];
  const other = (await people.leaders(workspace, 2)).find(({ value }) => value.uid !== known.value.uid);
  if (other !== undefined) return [{ kind: 'expectMember', member: other.value, version: other.version }];
  throw new MusterError('FORBIDDEN', `The workspace "${workspace}" would be left without a leader.`, {
    field: 'uid',
    reason: 'LAST_LEADER',
    suggestion: 'Make another member a leader first, or ask a deployment admin to make this change.',
  });
}

/** Returns the same error whether or not an account exists for the address. */
function notKnown(workspace: string, field: 'uid' | 'email'): MusterError {
  return new MusterError('NOT_FOUND', `The workspace "${workspace}" has no person with this ${field}.`, {
    field,
    suggestion: 'Invite the person with access.invite, which does not require an account.',
  });
}
