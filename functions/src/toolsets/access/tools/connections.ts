/** The tools that list and revoke a person's connections. */
import { z } from 'zod';
import { SIGN_IN_ENDS } from '../../../identity/rules/grant.ts';
import { idOf } from '../../../kernel/ids.ts';
import { type Given, reading, writing } from '../../../mcp/tool.ts';
import { type Connection, type EndedSignIn, homeThrough, type RevokedConnection } from '../rules/connections.ts';
import { anyRole, cursorAfter, cursorArgument, defineTool, idAfter, uidArgument } from './accessResponses.ts';

/** Maximum agents per page. One query reads the credentials of all agents of a page. */
const MAX_LIMIT = 20;

const appShape = z.object({
  name: z.string().describe('The name that the app gave itself.'),
  host: z.string().optional().describe('Host that confirms the name; absent if the app is unverified.'),
});

const endedShape = z.object({
  agent_id: z.string(),
  name: z.string(),
  app: appShape,
  reason: z.string().describe(SIGN_IN_ENDS.join(', ')),
  ended_at: z.iso.datetime(),
});

const connectionShape = z.object({
  agent_id: z.string(),
  name: z.string(),
  role: anyRole.describe("The agent's own role; it never exceeds its owner's."),
  home: z.string().describe('Default workspace of its calls.'),
  toolsets: z.array(z.string()).optional().describe('The only toolsets that the connection can use, if restricted.'),
  held_to: z.string().optional().describe('The only workspace that the connection can use, if restricted.'),
  readonly: z.boolean().optional(),
  app: appShape.optional().describe('Present if its owner signed in from an app instead of creating a key.'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  last_seen: z.iso.datetime(),
});

export const listConnections = defineTool({
  name: 'list_connections',
  title: 'List connections',
  description: "Lists the apps the caller's owner signed in from, the owner's agents with keys, and what each may do.",
  details:
    'An agent that is not a leader sees only its own connection. Only admins can set owner. A short page can have a next page, because disconnected agents are omitted.',
  input: z.strictObject({
    owner: uidArgument.optional().describe('Other person; admins only'),
    limit: z.int().min(1).max(MAX_LIMIT).default(MAX_LIMIT).describe('Maximum agents'),
    cursor: cursorArgument,
  }),
  output: z.object({
    connections: z.array(connectionShape),
    ended: z
      .array(endedShape)
      .describe('For each agent, the sign-in that ended last, for 30 days. To reconnect, sign in from the app.'),
    truncated: z.boolean(),
    next_cursor: z.string().optional(),
  }),
  ...reading,
  scope: 'anyone',
  example: {},
  handler: async ({ services, principal }, { owner, limit, cursor }) => {
    const question = `connections of ${owner ?? principal.owner_uid}`;
    const { connections, ended, next } = await services.access.connections.list(
      principal,
      owner,
      limit,
      idAfter(question, cursor),
    );
    return {
      connections: connections.map(connectionResponse),
      ended: ended.map(endedConnectionResponse),
      truncated: next !== undefined,
      next_cursor: next === undefined ? undefined : cursorAfter(question, next),
    };
  },
});

function connectionResponse(connection: Connection): Given<z.input<typeof connectionShape>> {
  const { agent, opens, app, lastSeen } = connection;
  // The output schema removes the other fields of `opens`.
  return {
    ...opens,
    agent_id: agent.id,
    name: agent.name,
    role: agent.role,
    home: homeThrough(connection),
    app: app && appResponse(app),
    last_seen: lastSeen,
  };
}

function endedConnectionResponse({ agent, app, end }: EndedSignIn): Given<z.input<typeof endedShape>> {
  return { agent_id: agent.id, name: agent.name, app: appResponse(app), reason: end.reason, ended_at: end.at };
}

function appResponse({ client_name, client_host }: EndedSignIn['app']): z.input<typeof appShape> {
  return { name: client_name, host: client_host };
}

const MAX_LISTED = 100;

export const revokeConnection = defineTool({
  name: 'revoke_connection',
  title: 'Revoke a connection',
  description: 'Disconnects an app or agent; it loses all access within 5 seconds.',
  details:
    'People can revoke their own agents, and leader agents those of their owner. Any agent can revoke itself. All that was registered through the revoked agent is revoked too, including its pending invitations and calls that wait for approval. The agent remains and can be registered or signed in again.',
  input: z.strictObject({ agent_id: idOf('an agent').describe('From access.list_connections') }),
  output: z.object({
    agent_id: z.string(),
    name: z.string(),
    revoked: z.int().describe('Number of revoked credentials and sign-ins.'),
    ended: z
      .object({
        agents: z.array(z.object({ agent_id: z.string(), name: z.string() })),
        invitations: z.array(z.object({ workspace: z.string(), email: z.string() })),
        requests: z.array(z.string()).describe('Calls that waited for approval'),
        truncated: z.boolean().optional().describe(`Whether a list exceeds ${MAX_LISTED} entries`),
      })
      .optional()
      .describe('Items that this call ended because they were created through the connection.'),
  }),
  ...writing('viewer', { destructiveHint: true, idempotentHint: false }),
  scope: 'anyone',
  example: { agent_id: 'terminal-2' },
  response: ({ agent, credentials, agents, invitations, requests }: RevokedConnection) => ({
    agent_id: agent.id,
    name: agent.name,
    revoked: credentials,
    ended: {
      agents: agents.slice(0, MAX_LISTED).map(({ id, name }) => ({ agent_id: id, name })),
      invitations: invitations.slice(0, MAX_LISTED).map(({ workspace, email }) => ({ workspace, email })),
      requests: requests.slice(0, MAX_LISTED),
      ...([agents, invitations, requests].some(({ length }) => length > MAX_LISTED) && { truncated: true }),
    },
  }),
  handler: ({ services, principal, recordResponse }, { agent_id }) =>
    services.access.connections.revoke(principal, agent_id, recordResponse),
});
