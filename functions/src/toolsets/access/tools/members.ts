/** The tools that list, set, remove and invite members, and accept invitations. */
import { z } from 'zod';
import type { Invitation } from '../../../identity/rules/people.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { reading, writing } from '../../../mcp/tool.ts';
import type { Accepted } from '../rules/inviting.ts';
import type { MemberReference, Removed, RoleSet } from '../rules/members.ts';
import {
  anyRole,
  cursorAfter,
  cursorArgument,
  defineTool,
  emailArgument,
  idAfter,
  memberRole,
  uidArgument,
  workspaceArgument,
  workspaceName,
} from './accessResponses.ts';

const MAX_LIMIT = 100;

export const listMembers = defineTool({
  name: 'list_members',
  title: 'List members',
  description: "Lists a workspace's members and their roles.",
  details:
    'Names and addresses come from Firebase Auth. In an open workspace, everyone with a deployment role also has that role here. For leaders, the first page includes pending invitations.',
  input: z.strictObject({
    workspace: workspaceArgument,
    limit: z.int().min(1).max(MAX_LIMIT).default(50).describe('Maximum'),
    cursor: cursorArgument,
  }),
  output: z.object({
    workspace: z.string(),
    access: z.string(),
    members: z.array(
      z.object({
        uid: z.string(),
        role: memberRole,
        name: z.string().optional(),
        email: z.string().optional(),
        added_by: z.string(),
        added_at: z.iso.datetime(),
      }),
    ),
    invitations: z
      .array(z.object({ email: z.string(), role: memberRole, invited_by: z.string(), expires_at: z.iso.datetime() }))
      .optional(),
    truncated: z.boolean(),
    next_cursor: z.string().optional(),
  }),
  ...reading,
  scope: 'owner',
  example: {},
  handler: async ({ services, principal, workspace: here }, { workspace = here, limit, cursor }) => {
    const question = `members of ${workspace}`;
    const { members, invitations, more, access } = await services.access.members.list(
      principal,
      workspace,
      limit,
      idAfter(question, cursor),
    );
    const last = members.at(-1);
    return {
      workspace,
      access,
      // The output schema removes the other fields.
      members,
      invitations,
      truncated: more,
      next_cursor: more && last ? cursorAfter(question, last.uid) : undefined,
    };
  },
});

export const setMember = defineTool({
  name: 'set_member',
  title: "Set a member's role",
  description: "Changes a member's role in a workspace, or adds a known person as a member.",
  details:
    'Identify the person by uid or email; for unknown people, use invite. The last leader of a private workspace cannot be demoted, except by an admin. If an agent adds a person or raises a role, its owner approves the call first.',
  input: z.strictObject({
    uid: uidArgument.optional().describe('From access.list_members'),
    email: emailArgument.optional().describe('Instead of uid'),
    role: memberRole.describe('New role'),
    workspace: workspaceArgument,
  }),
  output: z.object({
    workspace: z.string(),
    uid: z.string(),
    role: memberRole,
    was: memberRole.optional().describe('The previous role; absent if the person was not a member.'),
    changed: z.boolean(),
  }),
  ...writing('leader', { destructiveHint: true, idempotentHint: true }, ['member']),
  scope: 'owner',
  example: { uid: 'person2', role: 'leader' },
  response: ({ member: { workspace, uid, role }, was }: RoleSet) => ({
    workspace,
    uid,
    role,
    was,
    changed: was !== role,
  }),
  handler: async ({ services, principal, workspace: here, recordResponse }, input) => {
    const { role, workspace = here } = input;
    return services.access.members.set(principal, workspace, { named: namedIn(input), role }, recordResponse);
  },
});

/** @throws MusterError REQUIRED_FIELD if neither argument is set, VALIDATION_ERROR if both are */
function namedIn({ uid, email }: { uid?: string | undefined; email?: string | undefined }): MemberReference {
  if (uid !== undefined && email === undefined) return { uid };
  if (uid === undefined && email !== undefined) return { email };
  const code = uid === undefined ? 'REQUIRED_FIELD' : 'VALIDATION_ERROR';
  throw new MusterError(code, 'Identify the person by either uid or email.', {
    field: uid === undefined ? 'uid' : 'email',
    suggestion: 'Set exactly one of them. access.list_members lists the uids of members.',
  });
}

export const removeMember = defineTool({
  name: 'remove_member',
  title: 'Remove a member',
  description:
    'Removes a person and, within 5 seconds, their agents from a workspace. Cancels their open coding tasks and runs there. People can use it to leave.',
  details:
    'Also cancels an invitation that would let them rejoin. In an open workspace they keep their deployment role. The last leader of a private workspace cannot be removed, except by an admin.',
  input: z.strictObject({ uid: uidArgument.describe('From access.list_members'), workspace: workspaceArgument }),
  output: z.object({
    workspace: z.string(),
    uid: z.string(),
    was: memberRole,
    remains: anyRole.optional().describe('The role that the person keeps through their deployment role.'),
    ends: z
      .object({
        coding_tasks: z.number().int(),
        runs: z.number().int(),
        more: z.boolean().optional().describe('Whether more work exists than was counted; all of it is cancelled.'),
      })
      .optional()
      .describe('Open work that they started there; it is cancelled within seconds.'),
  }),
  // The tool requires no role, because people can leave a workspace with any role.
  ...writing('viewer', { destructiveHint: true, idempotentHint: false }),
  agentRole: 'leader',
  scope: 'owner',
  example: { uid: 'person2' },
  response: ({ ends, ...removed }: Removed) => ({
    ...removed,
    ...(ends && { ends: { coding_tasks: ends.codingTasks, runs: ends.runs, ...(ends.more && { more: true }) } }),
  }),
  handler: ({ services, principal, workspace: here, recordResponse }, { uid, workspace = here }) =>
    services.access.members.remove(principal, workspace, uid, recordResponse),
});

const invitationShape = z.object({
  workspace: z.string(),
  email: z.string(),
  role: memberRole,
  expires_at: z.iso.datetime(),
});

export const invite = defineTool({
  name: 'invite',
  title: 'Invite a person',
  description: 'Invites an email address to a workspace, with a role.',
  details:
    'Anyone who signs in with that verified address within 14 days becomes a member; an invitation never lowers a role. A new invitation replaces the previous one. Sends an email, at most once a day. If an agent invites, its owner approves the call first.',
  input: z.strictObject({
    email: emailArgument.describe('Email address'),
    role: memberRole.describe('Role there'),
    workspace: workspaceArgument,
  }),
  output: z.object({ invited: invitationShape }),
  // An undo cannot recall an email that was sent.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  loosens: ['member'],
  role: 'leader',
  scope: 'owner',
  example: { email: 'cyd@example.com', role: 'worker' },
  response: (invited: Invitation) => ({ invited }),
  handler: (
    { services, principal, workspace: here, baseUrl: url, recordResponse },
    { email: address, role, workspace = here },
  ) => services.access.inviting.invite(principal, workspace, { address, role, url }, recordResponse),
});

export const withdrawInvitation = defineTool({
  name: 'withdraw_invitation',
  title: 'Withdraw an invitation',
  description: 'Ends a pending invitation to a workspace.',
  details: 'A person who signs in with that address later does not become a member. An email that was sent stays sent.',
  input: z.strictObject({ email: emailArgument.describe('Invited address'), workspace: workspaceArgument }),
  output: z.object({ withdrawn: invitationShape }),
  ...writing('leader', { destructiveHint: true, idempotentHint: false }),
  scope: 'owner',
  example: { email: 'cyd@example.com' },
  response: (withdrawn: Invitation) => ({ withdrawn }),
  handler: ({ services, principal, workspace: here, recordResponse }, { email, workspace = here }) =>
    services.access.inviting.withdraw(principal, workspace, email, recordResponse),
});

const membership = z.object({ workspace: z.string(), role: memberRole });

export const acceptInvitation = defineTool({
  name: 'accept_invitation',
  title: 'Accept an invitation',
  description: "Accepts invitations sent to the caller's verified email address. People only.",
  details: 'Signing in also accepts them. This tool accepts them immediately.',
  input: z.strictObject({ workspace: workspaceName.optional().describe('Only this workspace') }),
  output: z.object({
    accepted: z.array(membership).describe("Workspaces of the invitations, with the caller's current roles there."),
    already: membership.optional().describe('The membership in the named workspace, if it has no pending invitation.'),
  }),
  ...writing('viewer', { destructiveHint: false, idempotentHint: true }, ['member']),
  scope: 'anyone',
  example: {},
  response: (outcome: Accepted) => outcome,
  handler: ({ services, principal, recordResponse }, { workspace }) =>
    services.access.inviting.accept(principal, workspace, recordResponse),
});
