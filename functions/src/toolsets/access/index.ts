import type { Toolset } from '../../mcp/tool.ts';
import type { AccessServices } from './create.ts';
import { acceptInvitation } from './tools/accept_invitation.ts';
import { createWorkspace } from './tools/create_workspace.ts';
import { explain } from './tools/explain.ts';
import { invite } from './tools/invite.ts';
import { listConnections } from './tools/list_connections.ts';
import { listMembers } from './tools/list_members.ts';
import { removeMember } from './tools/remove_member.ts';
import { revokeConnection } from './tools/revoke_connection.ts';
import { setMember } from './tools/set_member.ts';
import { updateWorkspace } from './tools/update_workspace.ts';
import { whoami } from './tools/whoami.ts';

/** Who may do what, where. Source: docs/semantics.md#who-may-do-what. */
export const access: Toolset<AccessServices> = {
  name: 'access',
  instructions:
    'access.whoami returns your roles and what a call without a workspace means; access.explain says why something is refused, and who can change that.',
  tools: [
    whoami,
    explain,
    listMembers,
    invite,
    acceptInvitation,
    setMember,
    removeMember,
    createWorkspace,
    updateWorkspace,
    listConnections,
    revokeConnection,
  ],
  resources: [],
};
