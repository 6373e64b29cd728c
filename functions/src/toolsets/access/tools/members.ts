/** The tools that list, set, remove and invite members, and the one that accepts an invitation. */
import { z } from 'zod';
import type { Invitation } from '../../../identity/rules/people.ts';
import { MusterError } from '../../../kernel/errors.ts';
import type { Accepted } from '../rules/inviting.ts';
import type { Named, Removed, RoleSet } from '../rules/members.ts';
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
} from './accessAnswers.ts';

const MAX_LIMIT = 100;

export const listMembers = defineTool({
  name: 'list_members',
  title: 'Members',
  description: 'Lists the people of a workspace and their roles.',
  details:
    'Names and addresses are as Firebase Auth has them. In an open workspace everybody whom the deployment gives a role has that role too. Leaders also see, with the first page, which invitations are open.',
  audience: 'those who administer',
  input: z.strictObject({
    workspace: workspaceArgument,
    limit: z.int().min(1).max(MAX_LIMIT).default(50).describe('How many'),
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
      .array(
        z.object({
          email: z.string(),
          role: memberRole,
          invited_by: z.string(),
          expires_at: z.iso.datetime(),
        }),
      )
      .optional(),
    truncated: z.boolean(),
    next_cursor: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
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
      members: members.map(({ uid, role, name, email, added_by, added_at }) => ({
        uid,
        role,
        name,
        email,
        added_by,
        added_at: added_at.toISOString(),
      })),
      invitations: invitations?.map(({ email, role, invited_by, expires_at }) => ({
        email,
        role,
        invited_by,
        expires_at: expires_at.toISOString(),
      })),
      truncated: more,
      next_cursor: more && last ? cursorAfter(question, last.uid) : undefined,
    };
  },
});

export const setMember = defineTool({
  name: 'set_member',
  title: "Set a member's role",
  description: 'Gives a member of a workspace another role, or makes one of somebody who is known here.',
  details:
    'Name the person by uid or by email. invite lets in whoever is not known yet. The last leader of a private workspace stays one, unless an admin says otherwise. If an agent adds a person or raises a role, its owner approves the call first.',
  audience: 'those who administer',
  input: z.strictObject({
    uid: uidArgument.optional().describe('As access.list_members has it'),
    email: emailArgument.optional().describe('Instead of uid'),
    role: memberRole.describe('The role from now on'),
    workspace: workspaceArgument,
  }),
  output: z.object({
    workspace: z.string(),
    uid: z.string(),
    role: memberRole,
    was: memberRole.optional().describe('The role before; absent where the person was no member.'),
    changed: z.boolean(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  loosens: ['member'],
  role: 'leader',
  scope: 'owner',
  example: { uid: 'person2', role: 'leader' },
  answer: ({ member: { workspace, uid, role }, was }: RoleSet) => ({
    workspace,
    uid,
    role,
    was,
    changed: was !== role,
  }),
  handler: async ({ services, principal, workspace: here, recordAnswer }, input) => {
    const { role, workspace = here } = input;
    return services.access.members.set(principal, workspace, { named: namedIn(input), role }, recordAnswer);
  },
});

/** @throws MusterError REQUIRED_FIELD, VALIDATION_ERROR */
function namedIn({ uid, email }: { uid?: string | undefined; email?: string | undefined }): Named {
  if (uid !== undefined && email === undefined) return { uid };
  if (uid === undefined && email !== undefined) return { email };
  const code = uid === undefined ? 'REQUIRED_FIELD' : 'VALIDATION_ERROR';
  throw new MusterError(code, 'Name the person either by uid or by email.', {
    field: uid === undefined ? 'uid' : 'email',
    suggestion: 'access.list_members has the uids of those who are members.',
  });
}

export const removeMember = defineTool({
  name: 'remove_member',
  title: 'Remove a member',
  description:
    'Takes a person out of a workspace, and all their agents within 5 seconds. Their open coding tasks and runs there are cancelled. People may leave by it.',
  details:
    'An invitation that would let them in again ends too. In an open workspace they keep the role that the deployment gives. The last leader of a private workspace stays, unless an admin says otherwise.',
  audience: 'those who administer',
  input: z.strictObject({
    uid: uidArgument.describe('As access.list_members has it'),
    workspace: workspaceArgument,
  }),
  output: z.object({
    workspace: z.string(),
    uid: z.string(),
    was: memberRole,
    remains: anyRole.optional().describe('The role that the deployment gives them there all the same.'),
    ends: z
      .object({
        coding_tasks: z.number().int(),
        runs: z.number().int(),
        more: z.boolean().optional().describe('There may be more than was counted: that ends too.'),
      })
      .optional()
      .describe('What they began there and is open: it is cancelled within seconds.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  // People leave by it, whatever their role.
  role: 'viewer',
  agentRole: 'leader',
  scope: 'owner',
  example: { uid: 'person2' },
  answer: ({ ends, ...removed }: Removed) => ({
    ...removed,
    ...(ends && {
      ends: { coding_tasks: ends.codingTasks, runs: ends.runs, ...(ends.more && { more: true }) },
    }),
  }),
  handler: ({ services, principal, workspace: here, recordAnswer }, { uid, workspace = here }) =>
    services.access.members.remove(principal, workspace, uid, recordAnswer),
});

export const invite = defineTool({
  name: 'invite',
  title: 'Invite somebody',
  description: 'Invites a mail address into a workspace, with a role there.',
  details:
    'Whoever signs in with that address, verified, within 14 days is a member; a role is never lowered by it. Another invitation of the address replaces the first. A mail tells of it, once a day at most. If an agent invites, its owner approves the call first.',
  audience: 'those who administer',
  input: z.strictObject({
    email: emailArgument.describe('Their mail address'),
    role: memberRole.describe('Their role there'),
    workspace: workspaceArgument,
  }),
  output: z.object({
    invited: z.object({
      workspace: z.string(),
      email: z.string(),
      role: memberRole,
      expires_at: z.iso.datetime(),
    }),
  }),
  // A mail that was sent is not taken back.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  loosens: ['member'],
  role: 'leader',
  scope: 'owner',
  example: { email: 'cyd@example.com', role: 'worker' },
  answer: ({ workspace, email, role, expires_at }: Invitation) => ({
    invited: { workspace, email, role, expires_at: expires_at.toISOString() },
  }),
  handler: (
    { services, principal, workspace: here, baseUrl: url, recordAnswer },
    { email: address, role, workspace = here },
  ) => services.access.inviting.invite(principal, workspace, { address, role, url }, recordAnswer),
});

const membership = z.object({ workspace: z.string(), role: memberRole });

export const acceptInvitation = defineTool({
  name: 'accept_invitation',
  title: 'Accept an invitation',
  description: "Takes the invitations that were sent to the caller's verified address. For people.",
  details: 'Signing in takes them too; this does not wait for it.',
  audience: 'those who administer',
  input: z.strictObject({ workspace: workspaceName.optional().describe('Only to this one') }),
  output: z.object({
    accepted: z.array(membership).describe('With the roles that the caller has there now.'),
    already: membership.optional().describe('What the caller was let into before.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: ['member'],
  role: 'viewer',
  scope: 'anyone',
  example: {},
  answer: ({ accepted, already }: Accepted) => ({ accepted: [...accepted], already }),
  handler: ({ services, principal, recordAnswer }, { workspace }) =>
    services.access.inviting.accept(principal, workspace, recordAnswer),
});
