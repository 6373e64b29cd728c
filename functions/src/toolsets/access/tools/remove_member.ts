import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import type { Removed } from '../rules/members.ts';
import { anyRole, memberRole, uidArgument, workspaceArgument } from './shapes.ts';

export const removeMember = defineTool({
  name: 'remove_member',
  title: 'Remove a member',
  description:
    'Takes a person out of a workspace, and all their agents within 5 seconds. People may leave by it.',
  details:
    'An invitation that would let them in again ends too. In an open workspace they keep the role that the deployment gives. The last leader of a private workspace stays, unless an admin says otherwise.',
  audience: 'those who administer',
  input: z.strictObject({
    uid: uidArgument.describe('As list_members has it'),
    workspace: workspaceArgument,
  }),
  output: z.object({
    workspace: z.string(),
    uid: z.string(),
    was: memberRole,
    remains: anyRole.optional().describe('The role that the deployment gives them there all the same.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  // People leave by it, whatever their role.
  role: 'viewer',
  agentRole: 'leader',
  scope: 'owner',
  example: { uid: 'person2' },
  answer: (removed: Removed) => removed,
  handler: ({ services, principal, workspace: here, recordAnswer }, { uid, workspace = here }) =>
    services.access.members.remove(principal, workspace, uid, recordAnswer),
});
