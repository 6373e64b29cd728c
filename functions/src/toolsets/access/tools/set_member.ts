import { z } from 'zod';
import { MusterError } from '../../../kernel/errors.ts';
import type { Named, RoleSet } from '../rules/members.ts';
import { defineTool, emailArgument, memberRole, uidArgument, workspaceArgument } from './accessAnswers.ts';

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
