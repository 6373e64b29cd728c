import { z } from 'zod';
import { chosenId } from '../../../kernel/ids.ts';
import type { Membership } from '../rules/membership.ts';
import { defineTool, texts } from './coordinationAnswers.ts';

export const registerAgent = defineTool({
  name: 'register_agent',
  title: 'Register an agent',
  description:
    'Joins this workspace as a worker or leader, before you claim tasks. onboarding.registerAgent makes a new agent with a credential.',
  details:
    'An id that is not an agent yet becomes a terminal of yours, with tasks and leases of its own: you call with its agent_id. Where somebody else has the id, the answer has another.',
  input: z.strictObject({
    agent_id: chosenId().describe('Your own id, as in terminal-2'),
    role: z.enum(['leader', 'worker']).describe('Agent role'),
    capabilities: texts('Replaces those declared before; kept if left out', 50, 100).optional(),
  }),
  output: z.object({
    success: z.boolean(),
    agent: z.object({
      id: z.string(),
      role: z.enum(['leader', 'worker']),
      last_heartbeat: z.string(),
      current_task: z.string().nullable(),
      tasks_completed: z.number(),
      capabilities: z.array(z.string()),
    }),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', role: 'worker' },
  answer: ({ agent, role, currentTask }: Membership) => ({
    success: true,
    agent: {
      id: agent.id,
      role,
      last_heartbeat: agent.last_seen.toISOString(),
      current_task: currentTask,
      tasks_completed: agent.tasks_completed,
      capabilities: agent.capability_details.map(({ name }) => name),
    },
  }),
  handler: ({ services, workspace, principal, recordAnswer }, { agent_id, ...declared }) =>
    services.membership.join(principal, { agentId: agent_id, workspace, ...declared }, recordAnswer),
});
