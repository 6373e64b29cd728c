import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import type { Revoked } from '../rules/connections.ts';
import { defineTool } from './accessAnswers.ts';

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
