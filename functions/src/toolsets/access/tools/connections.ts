/** The tools that list and revoke the apps and agents of a person. */
import { z } from 'zod';
import { SIGN_IN_ENDS } from '../../../identity/rules/grant.ts';
import { idOf } from '../../../kernel/ids.ts';
import { type Connection, type EndedSignIn, homeThrough, type Revoked } from '../rules/connections.ts';
import { anyRole, cursorAfter, cursorArgument, defineTool, idAfter, uidArgument } from './accessAnswers.ts';

/** The credentials of so many agents are found by one query; they may all have none. */
const MAX_LIMIT = 20;

const appShape = z.object({
  name: z.string().describe('What it calls itself.'),
  host: z.string().optional().describe('Whose document says so; absent where nobody vouches for it.'),
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
  role: anyRole.describe('Its own: it never has more than its owner.'),
  home: z.string().describe('The workspace of its calls that name none.'),
  toolsets: z.array(z.string()).optional().describe('All that it may use, where there is such a limit.'),
  held_to: z.string().optional().describe('The only workspace that it may use.'),
  readonly: z.boolean().optional(),
  app: appShape.optional().describe('Where its owner has signed in from an app, and no key was issued.'),
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
    ended: z
      .array(endedShape)
      .describe('The last sign-in of each agent that ended, for 30 days: sign in again from the app.'),
    truncated: z.boolean(),
    next_cursor: z.string().optional(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'viewer',
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
      connections: connections.map(connectionAnswer),
      ended: ended.map(endedAnswer),
      truncated: next !== undefined,
      next_cursor: next === undefined ? undefined : cursorAfter(question, next),
    };
  },
});

function connectionAnswer(connection: Connection): z.input<typeof connectionShape> {
  const { agent, opens, app, lastSeen } = connection;
  const { toolsets, held_to, readonly, created_at, expires_at } = opens;
  return {
    agent_id: agent.id,
    name: agent.name,
    role: agent.role,
    home: homeThrough(connection),
    toolsets: toolsets && [...toolsets],
    held_to,
    readonly,
    app: app && appAnswer(app),
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    last_seen: lastSeen.toISOString(),
  };
}

function endedAnswer({ agent, app, end }: EndedSignIn): z.input<typeof endedShape> {
  return {
    agent_id: agent.id,
    name: agent.name,
    app: appAnswer(app),
    reason: end.reason,
    ended_at: end.at.toISOString(),
  };
}

function appAnswer({ client_name, client_host }: EndedSignIn['app']): z.input<typeof appShape> {
  return { name: client_name, host: client_host };
}

const MOST_LISTED = 100;

export const revokeConnection = defineTool({
  name: 'revoke_connection',
  title: 'Revoke a connection',
  description: 'Disconnects an app or an agent: within 5 seconds it can do nothing more.',
  details:
    'Your own agents, in person or by an agent of yours that leads; an agent may give up its own. What was registered through it ends with it, with open invitations and calls that wait for approval. The agent itself stays, and can be registered or signed in again.',
  audience: 'those who administer',
  input: z.strictObject({ agent_id: idOf('an agent').describe('As access.list_connections has it') }),
  output: z.object({
    agent_id: z.string(),
    name: z.string(),
    revoked: z.int().describe('How many credentials and sign-ins it had.'),
    ended: z
      .object({
        agents: z.array(z.object({ agent_id: z.string(), name: z.string() })),
        invitations: z.array(z.object({ workspace: z.string(), email: z.string() })),
        requests: z.array(z.string()).describe('Calls that waited for approval'),
        truncated: z.boolean().optional().describe(`A list has more than ${MOST_LISTED} entries`),
      })
      .optional()
      .describe('What came from it and ended with it.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'viewer',
  scope: 'anyone',
  example: { agent_id: 'terminal-2' },
  answer: ({ agent, credentials, agents, invitations, requests }: Revoked) => ({
    agent_id: agent.id,
    name: agent.name,
    revoked: credentials,
    ended: {
      agents: agents.slice(0, MOST_LISTED).map(({ id, name }) => ({ agent_id: id, name })),
      invitations: invitations.slice(0, MOST_LISTED).map(({ workspace, email }) => ({ workspace, email })),
      requests: requests.slice(0, MOST_LISTED),
      ...([agents, invitations, requests].some(({ length }) => length > MOST_LISTED) && { truncated: true }),
    },
  }),
  handler: ({ services, principal, recordAnswer }, { agent_id }) =>
    services.access.connections.revoke(principal, agent_id, recordAnswer),
});
