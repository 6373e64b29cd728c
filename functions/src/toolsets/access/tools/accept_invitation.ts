import { z } from 'zod';
import type { Accepted } from '../rules/inviting.ts';
import { defineTool, memberRole, workspaceName } from './accessAnswers.ts';

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
