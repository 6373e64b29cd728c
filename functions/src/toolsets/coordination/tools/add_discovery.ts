import { z } from 'zod';
import type { Discovery } from '../rules/session.ts';
import { agentId, defineTool, discoveryAnswer, discoveryShape, text, texts } from './coordinationAnswers.ts';

export const addDiscovery = defineTool({
  name: 'add_discovery',
  title: 'Share a discovery',
  description: 'Shares a finding with the other agents of the workspace.',
  details: 'It cannot be taken back: add another one that corrects it.',
  input: z.strictObject({
    agent_id: agentId,
    content: text('What you found', 50_000),
    tags: texts('Tags', 20, 100).optional(),
  }),
  output: z.object({ success: z.boolean(), discovery: discoveryShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: {
    agent_id: 'terminal-2',
    content: 'Found existing auth middleware in src/middleware/auth.ts - can be reused',
    tags: ['auth', 'existing-code'],
  },
  answer: (discovery: Discovery) => ({ success: true, discovery: discoveryAnswer(discovery) }),
  handler: async ({ services, workspace, principal, recordAnswer }, { agent_id, content, tags = [] }) => {
    const agentId = await services.liveness.actAs(principal, workspace, agent_id);
    const discovery = { workspace, agent_id: agentId, content, tags: [...new Set(tags)] };
    return services.coordination.addDiscovery(discovery, recordAnswer, principal);
  },
});
