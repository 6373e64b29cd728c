import { z } from 'zod';
import {
  cursorAfter,
  cursorArgument,
  defineTool,
  idAfter,
  memberRole,
  workspaceArgument,
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
