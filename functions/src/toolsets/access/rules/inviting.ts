/** Inviting somebody into a workspace, and accepting. Source: docs/decisions/0006-roles-and-registration.md. */

import {
  foldedEmail,
  type Invitations,
  invitationId,
  type Taken,
} from '../../../access/rules/invitations.ts';
import type { AccessChange, AccessPorts } from '../../../access/rules/ports.ts';
import type { Invitation, Mail } from '../../../identity/rules/people.ts';
import { noRoleIn, type Principal, personsRoleIn } from '../../../identity/rules/principal.ts';
import type { MemberRole } from '../../../identity/rules/role.ts';
import type { RecordAnswer } from '../../../kernel/commit.ts';
import type { ConsoleLinks } from '../../../kernel/consoleLinks.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { Service } from '../../../kernel/ports.ts';
import { retryStale } from '../../../kernel/waiting.ts';
import { authorised, refusalIn } from './administration.ts';

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

const INVITATION_DAYS = 14;

/** So many may be open in a workspace: an address is a stranger's, who is sent mail. */
const MAX_OPEN = 50;

export interface Accepted {
  readonly accepted: readonly Taken[];
  /** What the person was let into before, where nothing was open for the workspace that was named. */
  readonly already?: Taken;
}

interface InvitingPorts extends AccessPorts {
  readonly invitations: Pick<Invitations, 'take'>;
  readonly consoleLinks: ConsoleLinks;
}

export class Inviting extends Service<InvitingPorts> {
  /**
   * Invites an address, which is sent a mail once a day at most. A second invitation takes the place of the first.
   * @param guest `url`: the MCP endpoint, for the mail
   * @throws MusterError FORBIDDEN, the same for a workspace that is not there
   */
  async invite(
    caller: Principal,
    workspace: string,
    { address, role, url }: { readonly address: string; readonly role: MemberRole; readonly url: string },
    recordAnswer: RecordAnswer<Invitation>,
  ): Promise<Invitation> {
    const { people, store, clock, randomness, hashing, consoleLinks } = this.ports;
    const link = consoleLinks.to({ kind: 'workspace', workspace });
    const principal = await authorised(this.ports, caller, (one) => refusalIn(one, workspace, 'leader'));
    const email = foldedEmail(address);
    const id = invitationId(hashing, workspace, email);
    return retryStale(randomness, async () => {
      const now = clock.now();
      const open = (await people.invitationsTo(workspace)).filter(({ expires_at }) => expires_at > now);
      const before = open.find((one) => one.id === id);
      if (before === undefined && open.length >= MAX_OPEN) throw tooMany(workspace);
      const expiresAt = new Date(now.getTime() + INVITATION_DAYS * DAY_MILLISECONDS);
      const invitedBy = principal.owner_uid;
      const { lineage } = caller;
      const until = { created_at: now, expires_at: expiresAt, ...(lineage && { lineage }) };
      const invitation = { id, workspace, email, role, invited_by: invitedBy, ...until };
      const isToldToday =
        before !== undefined && now.getTime() - before.created_at.getTime() < DAY_MILLISECONDS;
      // The day of the mail goes on from the first of the day, or repeating would put the next one off for ever.
      const kept = isToldToday ? { ...invitation, created_at: before.created_at } : invitation;
      const told: AccessChange[] = isToldToday ? [] : [{ kind: 'queueMail', mail: mailOf(kept, url, link) }];
      await store.commit([{ kind: 'invite', invitation: kept }, ...told], recordAnswer(kept));
      return kept;
    });
  }

  /**
   * Takes what is open for the caller's verified address.
   * @param workspace the only one
   * @throws MusterError FORBIDDEN; NOT_FOUND, the same whatever there is
   */
  async accept(
    principal: Principal,
    workspace: string | undefined,
    recordAnswer: RecordAnswer<Accepted>,
  ): Promise<Accepted> {
    const { uid, kind, email } = principal;
    if (kind !== 'person') throw notAPerson();
    if (email === undefined) throw notVerified();
    const { invitations, store, people, roles } = this.ports;
    const accepted = await invitations.take(uid, email, workspace, (taken) =>
      recordAnswer({ accepted: taken }),
    );
    if (accepted.length > 0) return { accepted };
    // Signing in has taken what there was, maybe with this very call.
    const member = workspace === undefined ? undefined : await people.member(workspace, uid);
    if (member !== undefined) {
      const { value } = member;
      const outcome = { accepted, already: { workspace: value.workspace, role: value.role } };
      await store.commit([], recordAnswer(outcome));
      return outcome;
    }
    const hasRole = workspace !== undefined && personsRoleIn(await roles.of(uid), workspace) !== undefined;
    throw workspace === undefined || hasRole ? nothingOpen() : noRoleIn(workspace);
  }
}

/** Names and roles alone: nothing that somebody wrote is sent to a stranger. */
function mailOf(
  { id, workspace, email, role, created_at: at, expires_at }: Invitation,
  url: string,
  link: string,
): Mail {
  const until = expires_at.toISOString().slice(0, 10);
  return {
    id: `invitation-${id}-${at.getTime()}`,
    to: email,
    subject: `You are invited to the workspace ${workspace}`,
    text: [
      `You are invited to the workspace ${workspace} of a Muster deployment, as ${role}.`,
      `Sign in with this address until ${until} to become a member. You need no password: the page that opens can send you a link.`,
      `In a browser, open the console: ${link}`,
      `Or give a client that speaks MCP this address: ${url}`,
      `In Claude Code, for example: claude mcp add --transport http muster ${url} and then /mcp.`,
      'If you do not know what this is about, ignore this mail.',
      '',
    ].join('\n\n'),
    at,
  };
}

function tooMany(workspace: string): MusterError {
  return new MusterError(
    'QUOTA_EXCEEDED',
    `The workspace "${workspace}" has ${MAX_OPEN} open invitations, the most there may be.`,
    {
      suggestion: `Wait until some are taken or have expired, ${INVITATION_DAYS} days after they were sent.`,
    },
  );
}

function notAPerson(): MusterError {
  return new MusterError('FORBIDDEN', 'Invitations are to people: an agent has the roles of its owner.', {
    reason: 'NOT_A_PERSON',
    suggestion: 'Your owner signs in themselves. From then on their agents have their roles.',
  });
}

function notVerified(): MusterError {
  return new MusterError('FORBIDDEN', 'Nobody has verified your mail address.', {
    reason: 'EMAIL_NOT_VERIFIED',
    suggestion: 'Verify it with Firebase Auth, sign in anew, and call again.',
  });
}

function nothingOpen(): MusterError {
  return new MusterError('NOT_FOUND', 'No invitation is open for your address.', {
    suggestion:
      'Invitations are taken when you sign in: access.whoami shows the workspaces in which you have a role. A leader of a workspace invites you with access.invite.',
  });
}
