/** Invitations to workspaces, and accepting them. Source: docs/decisions/0006-roles-and-registration.md. */
import {
  type AcceptedInvitation,
  foldedEmail,
  type Invitations,
  invitationId,
} from '../../../access/rules/invitations.ts';
import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { Email, Invitation } from '../../../identity/rules/people.ts';
import type { Profile } from '../../../identity/rules/ports.ts';
import { noRoleIn, type Principal, personsRoleIn } from '../../../identity/rules/principal.ts';
import type { MemberRole } from '../../../identity/rules/role.ts';
import type { RecordResponse } from '../../../kernel/commit.ts';
import { retryOnConflict } from '../../../kernel/concurrency.ts';
import type { ConsoleLinks } from '../../../kernel/consoleLinks.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { DAY_MS, Service } from '../../../kernel/ports.ts';
import { requireAllowed, workspaceError } from './administration.ts';

const INVITATION_DAYS = 14;

/** Maximum pending invitations per workspace, because each one sends an email, possibly to a stranger. */
const MAX_OPEN_INVITATIONS = 50;

export interface Accepted {
  readonly accepted: readonly AcceptedInvitation[];
  /** The person's membership in the named workspace, if that workspace has no pending invitation for the person. */
  readonly already?: AcceptedInvitation;
}

interface InvitingPorts extends AccessPorts {
  readonly invitations: Pick<Invitations, 'accept'>;
  readonly consoleLinks: ConsoleLinks;
}

export class Inviting extends Service<InvitingPorts> {
  /**
   * Invites an email address, replacing an earlier invitation to it. Sends at most one email per address and day.
   * @param guest `url`: the MCP endpoint that the email names
   * @throws MusterError FORBIDDEN, also if the workspace does not exist
   */
  async invite(
    caller: Principal,
    workspace: string,
    { address, role, url }: { readonly address: string; readonly role: MemberRole; readonly url: string },
    recordResponse: RecordResponse<Invitation>,
  ): Promise<Invitation> {
    const { people, store, clock, randomness, hashing, consoleLinks, idTokens } = this.ports;
    const link = consoleLinks.to({ kind: 'workspace', workspace });
    const principal = await requireAllowed(this.ports, caller, (one) => workspaceError(one, workspace, 'leader'));
    const email = foldedEmail(address);
    const id = invitationId(hashing, workspace, email);
    return retryOnConflict(randomness, async () => {
      const now = clock.now();
      const isOfToday = ({ created_at }: Invitation) => now.getTime() - created_at.getTime() < DAY_MS;
      const all = await people.invitationsTo(workspace);
      // An invitation that was withdrawn counts for a day, because its email was sent.
      const counted = all.filter((one) => one.expires_at > now || isOfToday(one));
      const before = counted.find((one) => one.id === id);
      if (before === undefined && counted.length >= MAX_OPEN_INVITATIONS) {
        const message = `The workspace "${workspace}" has ${MAX_OPEN_INVITATIONS} pending invitations, the maximum.`;
        const suggestion = `Wait until some are accepted or expire (${INVITATION_DAYS} days after sending).`;
        throw new MusterError('QUOTA_EXCEEDED', message, { suggestion });
      }
      const expiresAt = new Date(now.getTime() + INVITATION_DAYS * DAY_MS);
      const invitedBy = principal.owner_uid;
      const { lineage } = caller;
      const until = { created_at: now, expires_at: expiresAt, ...(lineage && { lineage }) };
      const invitation = { id, workspace, email, role, invited_by: invitedBy, ...until };
      const wasSentToday = before !== undefined && isOfToday(before);
      // The day starts with the first email. If each invitation restarted the day, no email could ever be sent again.
      const kept = wasSentToday ? { ...invitation, created_at: before.created_at } : invitation;
      const inviter = (await idTokens.profiles([invitedBy])).get(invitedBy);
      const emails: AccessChange[] = wasSentToday
        ? []
        : [{ kind: 'queueEmail', mail: emailOf(kept, { url, link, inviter }) }];
      await store.commit([{ kind: 'invite', invitation: kept }, ...emails], recordResponse(kept));
      return kept;
    });
  }

  /** Ends a pending invitation. @throws MusterError FORBIDDEN; NOT_FOUND if the address has no pending invitation */
  async withdraw(
    caller: Principal,
    workspace: string,
    address: string,
    recordResponse: RecordResponse<Invitation>,
  ): Promise<Invitation> {
    const { people, store, clock, randomness, hashing } = this.ports;
    await requireAllowed(this.ports, caller, (one) => workspaceError(one, workspace, 'leader'));
    const id = invitationId(hashing, workspace, foldedEmail(address));
    return retryOnConflict(randomness, async () => {
      const before = await people.invitation(id);
      if (before === undefined || before.expires_at <= clock.now())
        throw new MusterError('NOT_FOUND', `The workspace "${workspace}" has no pending invitation to this address.`, {
          field: 'email',
          suggestion:
            'access.list_members lists the pending invitations. If the invitation was accepted, access.remove_member removes the person.',
        });
      const at = clock.now();
      const withdrawn = { ...before, expires_at: at };
      await store.commit([{ kind: 'endInvitation', id, before, at }], recordResponse(withdrawn));
      return withdrawn;
    });
  }

  /**
   * Accepts the pending invitations for the caller's verified address.
   * @param workspace accepts only the invitation to this workspace
   * @throws MusterError FORBIDDEN; NOT_FOUND, also if the workspace does not exist
   */
  async accept(
    principal: Principal,
    workspace: string | undefined,
    recordResponse: RecordResponse<Accepted>,
  ): Promise<Accepted> {
    const { uid, kind, email } = principal;
    if (kind !== 'person')
      throw new MusterError(
        'FORBIDDEN',
        'Only people can accept invitations. An agent gets its roles from its owner.',
        {
          reason: 'NOT_A_PERSON',
          suggestion:
            'Ask your owner to sign in. The roles of the invitations then also apply to the agents of your owner.',
        },
      );
    if (email === undefined)
      throw new MusterError('FORBIDDEN', 'Your email address is not verified.', {
        reason: 'EMAIL_NOT_VERIFIED',
        suggestion: 'Verify the address with Firebase Auth, sign in again, then retry.',
      });
    const { invitations, store, people, roles } = this.ports;
    const accepted = await invitations.accept(uid, email, workspace, (taken) => recordResponse({ accepted: taken }));
    if (accepted.length > 0) return { accepted };
    // Signing in also accepts invitations, possibly during this call.
    const member = workspace === undefined ? undefined : await people.member(workspace, uid);
    if (member !== undefined) {
      const { value } = member;
      const outcome = { accepted, already: { workspace: value.workspace, role: value.role } };
      await store.commit([], recordResponse(outcome));
      return outcome;
    }
    if (workspace !== undefined && personsRoleIn(await roles.of(uid), workspace) === undefined)
      throw noRoleIn(workspace);
    throw new MusterError('NOT_FOUND', 'Your email address has no pending invitation.', {
      suggestion:
        'Signing in accepts invitations automatically; access.whoami lists your workspaces. To join another workspace, ask one of its leaders for an invitation.',
    });
  }
}

/** Characters of a person's name. A name with other characters could be an advertisement, so it is not sent. */
const PLAIN_NAME = /^[\p{L}\p{M} .'’-]{1,60}$/u;

/** Returns the email. It contains no text by callers except names, because it may be sent to a stranger. */
function emailOf(
  { id, workspace, email, role, created_at: at, expires_at }: Invitation,
  { url, link, inviter }: { readonly url: string; readonly link: string; readonly inviter: Profile | undefined },
): Email {
  const until = expires_at.toISOString().slice(0, 10);
  const name = PLAIN_NAME.test(inviter?.name ?? '') ? inviter?.name : undefined;
  const who = [name, inviter?.email && (name ? `(${inviter.email})` : inviter.email)].filter(Boolean).join(' ');
  const lead = who === '' ? 'You are invited' : `${who} invites you`;
  return {
    id: `invitation-${id}-${at.getTime()}`,
    to: email,
    subject: `${lead} to the workspace ${workspace}`,
    text: [
      `${lead} to join the workspace ${workspace} of a Muster deployment as ${role}.`,
      `To become a member, sign in with this email address by ${until}. You do not need a password: the sign-in page can email you a link.`,
      `To use a browser, open the console: ${link}`,
      `To use an MCP client, connect it to this address: ${url}`,
      `For example, in Claude Code, run claude mcp add --transport http muster ${url} and then /mcp.`,
      'If you did not expect this email, ignore it.',
      '',
    ].join('\n\n'),
    at,
  };
}
