/** Invitations, accepted when the recipient signs in. Source: docs/decisions/0006-roles-and-registration.md. */
import { resolveLineage } from '../../identity/rules/lineage.ts';
import type { Invitation } from '../../identity/rules/people.ts';
import { personsRoleIn } from '../../identity/rules/principal.ts';
import { hasRole, type MemberRole } from '../../identity/rules/role.ts';
import type { RecordResponse } from '../../kernel/commit.ts';
import { retryOnConflict } from '../../kernel/concurrency.ts';
import { BoundedMap } from '../../kernel/memoCache.ts';
import { type Hashing, Service } from '../../kernel/ports.ts';
import { canUseToolset } from './permissionCheck.ts';
import type { AccessChange, AccessPorts } from './ports.ts';

export interface AcceptedInvitation {
  readonly workspace: string;
  /** Role that the person has afterwards. An invitation never replaces a role by a weaker one. */
  readonly role: MemberRole;
}

/** Minimum time between two checks of a person's invitations by one instance, in milliseconds. */
const LOOKUP_TTL_MS = 60_000;
const MAX_CACHED_LOOKUPS = 5000;

/** Returns an invitation's id. An address has one id per workspace, so a new invitation replaces the old one. */
export function invitationId(hashing: Hashing, workspace: string, email: string): string {
  return hashing.sha256(`${workspace}\n${email}`).slice(0, 40);
}

/** Normalizes an email address in the way Firebase Auth does. */
export function foldedEmail(email: string): string {
  return email.trim().toLowerCase();
}

export class Invitations extends Service<AccessPorts> {
  /** Time of the last check of a person's invitations, by uid. */
  private readonly lookups = new BoundedMap<string, number>(MAX_CACHED_LOOKUPS);

  /** Accepts the invitations of a signed-in person, at most once a minute. Failures are logged, not thrown. */
  async acceptAtSignIn(uid: string, email: string): Promise<void> {
    const now = this.ports.clock.now().getTime();
    const last = this.lookups.get(uid);
    if (last !== undefined && now - last < LOOKUP_TTL_MS) return;
    this.lookups.set(uid, now);
    try {
      await this.accept(uid, email, undefined, () => undefined);
    } catch (error) {
      this.ports.log.warn('invitations_not_taken', { uid, error });
    }
  }

  /**
   * Accepts all invitations to a person's address in one commit. An invitation that has expired, or whose sender may
   * no longer invite, is deleted without a membership.
   * @param email verified address in lower case
   * @param workspace if given, only invitations to this workspace are accepted
   */
  accept(
    uid: string,
    email: string,
    workspace: string | undefined,
    recordResponse: RecordResponse<readonly AcceptedInvitation[]>,
  ): Promise<readonly AcceptedInvitation[]> {
    const { people, store, clock, randomness } = this.ports;
    return retryOnConflict(randomness, async () => {
      const found = (await people.invitationsFor(email)).filter(
        (one) => workspace === undefined || one.workspace === workspace,
      );
      const now = clock.now();
      const outcomes = await Promise.all(found.map((one) => this.outcomeOf(one, uid, now)));
      const taken = outcomes.flatMap((outcome) => outcome.taken ?? []);
      const changes = outcomes.flatMap((outcome) => outcome.changes);
      await store.commit(changes, taken.length > 0 ? recordResponse(taken) : undefined);
      return taken;
    });
  }

  private async outcomeOf(
    invitation: Invitation,
    uid: string,
    now: Date,
  ): Promise<{ readonly changes: AccessChange[]; readonly taken?: AcceptedInvitation }> {
    const { id, workspace, role, invited_by: addedBy } = invitation;
    const ended: AccessChange = { kind: 'endInvitation', id, before: invitation };
    if (
      invitation.expires_at <= now ||
      !(await this.isValid(invitation, now)) ||
      !(await this.canInvite(addedBy, workspace))
    )
      return { changes: [ended] };
    const known = await this.ports.people.member(workspace, uid);
    if (known !== undefined && hasRole(known.value.role, role))
      return { changes: [ended], taken: { workspace, role: known.value.role } };
    const member = { uid, workspace, role, added_by: addedBy, added_at: now };
    const version = known?.version ?? null;
    const set: AccessChange = { kind: 'setMember', member, before: known?.value, version };
    return { changes: [set, ended], taken: { workspace, role } };
  }

  /** Returns whether the sender may still invite: all credentials of the sender's chain are valid and allow it. */
  private async isValid({ lineage = [], workspace, expires_at }: Invitation, now: Date): Promise<boolean> {
    const all = { role: 'admin', endsAt: expires_at } as const;
    const subjects = lineage.map(({ subject }) => subject);
    const opened = await resolveLineage(this.ports, all, subjects, now);
    if (opened === undefined) return false;
    const { role, held_to = workspace, readonly } = opened.opens;
    return hasRole(role, 'leader') && held_to === workspace && !readonly && canUseToolset(opened.opens, 'access');
  }

  private async canInvite(uid: string, workspace: string): Promise<boolean> {
    const roles = await this.ports.roles.of(uid);
    const role = personsRoleIn(roles, workspace);
    return roles.role === 'admin' || (role !== undefined && hasRole(role, 'leader'));
  }
}
