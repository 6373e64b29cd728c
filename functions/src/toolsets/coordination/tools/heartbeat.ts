import { z } from 'zod';
import { defineTool } from '../../../mcp/tool.ts';
import { agentId } from './shapes.ts';

const ALIVE = { success: true };

export const heartbeat = defineTool({
  name: 'heartbeat',
  title: 'Heartbeat',
  description: 'Says that you are alive. Any call does; send one a minute during long work.',
  input: z.strictObject({ agent_id: agentId('Your agent ID') }),
  output: z.object({ success: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  role: 'worker',
  example: { agent_id: 'terminal-2' },
  handler: async ({ services, principal, operation }, { agent_id }) => {
    await services.membership.heartbeat(principal, agent_id, () => operation.settle(ALIVE));
    return ALIVE;
  },
});
