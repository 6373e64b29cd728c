import { z } from 'zod';
import type { Identity } from '../rules/identity.ts';
import { accessArgument, anyRole, defineTool, memberRole } from './accessAnswers.ts';

export const whoami = defineTool({
  name: 'whoami',
  title: 'Who am I?',
  description: 'Returns your owner, roles, limits and default workspace.',
  details:
    "A role in a workspace comes from membership, from the deployment where the workspace is open, or from the agent's own role where that is weaker than its owner's. Invitations to your verified address are taken first.",
  input: z.strictObject({}),
  output: z.object({
    uid: z.string(),
    kind: z.enum(['agent', 'person']),
    agent: z.object({ id: z.string(), name: z.string().optional() }).optional(),
    owner: z
      .object({ uid: z.string(), name: z.string().optional(), email: z.string().optional() })
      .describe('The person for whom you act.'),
    home: z
      .object({ workspace: z.string(), why: z.string() })
      .describe('What a call means that names no workspace.'),
    this_call: z.string().describe('The workspace of this call.'),
    deployment_role: anyRole.optional(),
    workspaces: z
      .array(
        z.object({
          workspace: z.string(),
          access: accessArgument,
          role: anyRole,
          from: z.string().describe('membership, deployment, or own: the role of the agent itself.'),
          owners_role: anyRole.optional(),
        }),
      )
      .describe('Every workspace in which you have a role.'),
    administers: z
      .array(z.object({ workspace: z.string(), access: accessArgument }))
      .optional()
      .describe(
        'Other workspaces, of which an admin changes members, settings and connections, and sees no work.',
      ),
    truncated: z.boolean().describe('Whether either list is cut.'),
    limits: z
      .object({
        role: anyRole.optional().describe('The most that the agent may, whoever its owner is.'),
        toolsets: z.array(z.string()).optional(),
        held_to: z.string().optional(),
        readonly: z.boolean().optional(),
        expires_at: z.iso.datetime().optional(),
      })
      .describe('What your credential opens no more than.'),
    accepted: z
      .array(z.object({ workspace: z.string(), role: memberRole }))
      .describe('Invitations that were taken with this call.'),
    advice: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  scope: 'anyone',
  openToAll: true,
  example: {},
  handler: async ({ services, caller, workspace }) => {
    const identity = await services.access.identities.describe(caller);
    const { principal, owner, agentName, home, expiresAt, accepted } = identity;
    const { uid, kind, agent_id, owner_uid, maxRole, toolsets, held_to, readonly } = principal;
    return {
      uid,
      kind,
      agent: agent_id === undefined ? undefined : { id: agent_id, name: agentName },
      owner: { uid: owner_uid, name: owner.name, email: kind === 'person' ? owner.email : undefined },
      home,
      this_call: workspace,
      deployment_role: identity.deploymentRole,
      workspaces: identity.workspaces.map(({ ownersRole, ...standing }) => ({
        ...standing,
        owners_role: ownersRole,
      })),
      administers: identity.administers && [...identity.administers],
      truncated: identity.truncated,
      limits: {
        role: kind === 'agent' ? maxRole : undefined,
        toolsets: toolsets && [...toolsets],
        held_to,
        readonly,
        expires_at: expiresAt?.toISOString(),
      },
      accepted: [...accepted],
      advice: adviceFor(identity),
    };
  },
});

function adviceFor({ principal, workspaces, owner }: Identity): string | undefined {
  if (workspaces.length > 0) return undefined;
  if (principal.kind === 'agent') return 'Your owner has no role here, so you have none. Tell them.';
  return owner.email !== undefined && principal.email === undefined
    ? 'You have no role here yet. Invitations are taken once your address is verified: verify it, and sign in anew.'
    : 'You have no role here yet. Ask a leader of a workspace to invite your address, or whoever runs this deployment for a role.';
}
