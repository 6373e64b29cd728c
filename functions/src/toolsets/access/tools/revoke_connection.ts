import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import { defineTool } from '../../../mcp/tool.ts';
import type { Revoked } from '../rules/connections.ts';

export const revokeConnection = defineTool({
  name: 'revoke_connection',
  title: 'Revoke a connection',
  description: 'Disconnects an app or an agent: within 5 seconds it can do nothing more.',
  details:
    'Your own agents, in person or by an agent of yours that leads; an agent may give up its own. What an app has registered goes with it. The agent itself stays, and can be registered or signed in again.',
  audience: 'those who administer',
  input: z.strictObject({ agent_id: idOf('an agent').describe('As list_connections has it') }),
  output: z.object({
    agent_id: z.string(),
    name: z.string(),
    revoked: z.int().describe('How many credentials and sign-ins it had.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  role: 'viewer',
  scope: 'anyone',
  example: { agent_id: 'terminal-2' },
  answer: ({ agent, credentials }: Revoked) => ({
    agent_id: agent.id,
    name: agent.name,
    revoked: credentials,
  }),
  handler: ({ services, principal, recordAnswer }, { agent_id }) =>
    services.access.connections.revoke(principal, agent_id, recordAnswer),
});
