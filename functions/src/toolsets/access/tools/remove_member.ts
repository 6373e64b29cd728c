import { z } from 'zod';
import type { Removed } from '../rules/members.ts';
import { anyRole, defineTool, memberRole, uidArgument, workspaceArgument } from './accessAnswers.ts';

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
