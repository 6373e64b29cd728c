/** The tools by which agents register, say that they are alive, and write to each other. Source: the coordination specification. */
import { z } from 'zod';
import { chosenId, idOf } from '../../../kernel/ids.ts';
import type { Message } from '../rules/mailbox.ts';
import type { Membership } from '../rules/membership.ts';
import {
  agentId,
  defineTool,
  messagesAnswer,
  messagesShape,
  taskId,
  text,
  texts,
} from './coordinationAnswers.ts';

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

export const heartbeat = defineTool({
  name: 'heartbeat',
  title: 'Heartbeat',
  description:
    'Says that you are alive. Any call does; send one a minute during long work. Answers messages to you.',
  input: z.strictObject({
    agent_id: agentId,
    read_until: idOf('a message').optional().describe('The last message you have read: they come no more'),
  }),
  output: z.object({ success: z.boolean(), messages: messagesShape }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  loosens: [],
  role: 'worker',
  routine: true,
  example: { agent_id: 'terminal-2' },
  answer: (messages: readonly Message[]) => ({ success: true, messages: messagesAnswer(messages) }),
  handler: ({ services, workspace, principal, recordAnswer }, { agent_id: name, read_until }) =>
    services.membership.heartbeat(principal, { workspace, name, readUntil: read_until }, recordAnswer),
});

export const messageAgent = defineTool({
  name: 'message_agent',
  title: 'Write to an agent',
  description: 'Writes to an agent of the workspace, which gets it with its next heartbeat or claim.',
  details:
    'It comes again until the agent says with heartbeat and read_until that it has read it. At most 20 of a workspace wait; then the call is refused. What was written cannot be taken back.',
  input: z.strictObject({
    agent_id: chosenId().describe('To whom'),
    message: text('What you have to say', 4000),
    task_id: taskId.optional(),
  }),
  output: z.object({ success: z.boolean(), message_id: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  loosens: [],
  role: 'worker',
  example: { agent_id: 'terminal-2', message: 'The tests need Node 22.', task_id: 'task-xxx-002' },
  answer: ({ id }: Message) => ({ success: true, message_id: id }),
  handler: ({ services, workspace, principal, recordAnswer }, { agent_id, message, task_id }) => {
    const letter = { workspace, agentId: agent_id, text: message, taskId: task_id };
    return services.messages.send(principal, letter, recordAnswer);
  },
});
