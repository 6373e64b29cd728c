import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { agentId } from './shapes.ts';

export const heartbeat = defineTool({
  name: 'heartbeat',
  title: 'Heartbeat',
  description: 'Says that you are alive. Any call does; send one a minute during long work.',
  input: z.strictObject({ agent_id: agentId }),
  output: z.object({ success: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'worker',
  example: { agent_id: 'terminal-2' },
  answer: () => ({ success: true }),
  handler: ({ services, workspace, principal, recordAnswer }, { agent_id }) =>
    services.membership.heartbeat(principal, workspace, agent_id, recordAnswer),
});
