import { z } from 'zod';
import type { Invitation } from '../../../identity/rules/people.ts';
import { defineTool, emailArgument, memberRole, workspaceArgument } from './accessAnswers.ts';

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
