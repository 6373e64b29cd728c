import type { Toolset } from '../../mcp/tool.ts';
import type { AccessServices } from './create.ts';
import { listConnections, revokeConnection } from './tools/connections.ts';
import { acceptInvitation, invite, listMembers, removeMember, setMember, withdrawInvitation } from './tools/members.ts';
import { explain, whoami } from './tools/rights.ts';

import { createWorkspace, updateWorkspace } from './tools/workspaces.ts';

/** The toolset for roles and permissions. Source: docs/semantics.md#permissions. */
export const access: Toolset<AccessServices> = {
  name: 'access',
  instructions:
    'access.whoami returns your roles and default workspace; access.explain says why access is refused and who can grant it.',
  tools: [
    whoami,
    explain,
    listMembers,
    invite,
    withdrawInvitation,
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
