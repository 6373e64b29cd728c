import { z } from 'zod';
import { homeOf } from '../../../access/rules/agent.ts';
import { defineTool } from '../../../mcp/tool.ts';
import type { Connection } from '../rules/connections.ts';
import { anyRole, cursorAfter, cursorArgument, idAfter, uidArgument } from './shapes.ts';

/** The credentials of so many agents are found by one query; they may all have none. */
const MAX_LIMIT = 20;

const connectionShape = z.object({
  agent_id: z.string(),
  name: z.string(),
  role: anyRole.describe('Its own: it never has more than its owner.'),
  home: z.string().describe('The workspace of its calls that name none.'),
  toolsets: z.array(z.string()).optional().describe('All that it may use, where there is such a limit.'),
  held_to: z.string().optional().describe('The only workspace that it may use.'),
  readonly: z.boolean().optional(),
  app: z
    .object({
      name: z.string().describe('What it calls itself.'),
      host: z.string().optional().describe('Whose document says so; absent where nobody vouches for it.'),
    })
    .optional()
    .describe('Where its owner has signed in from an app, and no key was issued.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  last_seen: z.iso.datetime(),
});

export const listConnections = defineTool({
  name: 'list_connections',
  title: 'Connections',
  description:
    "Lists the apps that the caller's owner has signed in from, and their agents with a key, and what each may do.",
  details:
    'To an agent that does not lead, its own alone. An admin may name another owner. A page may be short and go on all the same, since agents that are not connected are left out.',
  audience: 'those who administer',
  input: z.strictObject({
    owner: uidArgument.optional().describe('Another person, for admins'),
    limit: z.int().min(1).max(MAX_LIMIT).default(MAX_LIMIT).describe('How many agents'),
    cursor: cursorArgument,
  }),
  output: z.object({
    connections: z.array(connectionShape),
    truncated: z.boolean(),
    next_cursor: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
  scope: 'anyone',
  example: {},
  handler: async ({ services, principal }, { owner, limit, cursor }) => {
    const question = `connections of ${owner ?? principal.ownerUid}`;
    const after = idAfter(question, cursor);
    const { connections, next } = await services.access.connections.list(principal, owner, limit, after);
    return {
      connections: connections.map(connectionAnswer),
      truncated: next !== undefined,
      next_cursor: next === undefined ? undefined : cursorAfter(question, next),
    };
  },
});

function connectionAnswer({ agent, opens, app, lastSeen }: Connection): z.input<typeof connectionShape> {
  const { toolsets, heldTo, readonly, createdAt, expiresAt } = opens;
  return {
    agent_id: agent.id,
    name: agent.name,
    role: agent.role,
    home: heldTo ?? homeOf(agent),
    toolsets: toolsets && [...toolsets],
    held_to: heldTo,
    readonly,
    app: app && { name: app.clientName, host: app.clientHost },
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    last_seen: lastSeen.toISOString(),
  };
}
