/** Tools for registering agents, heartbeats and messages between agents. Source: the coordination specification. */
import { z } from 'zod';
import { isReservedCapability } from '../../../agents/rules/agent.ts';
import { chosenId, idOf } from '../../../kernel/ids.ts';
import { optionalList, writing } from '../../../mcp/tool.ts';
import type { Message } from '../rules/mailbox.ts';
import type { Membership } from '../rules/membership.ts';
import { AT_WORK, type SentMessage } from '../rules/messages.ts';
import { agentId, defineTool, messagesShape, RESERVED, taskId, text, texts } from './coordinationResponses.ts';

export const registerAgent = defineTool({
  name: 'register_agent',
  title: 'Register an agent',
  description: 'Joins this workspace as worker or leader, before you claim tasks.',
  details:
    'For a new agent with a credential, use onboarding.registerAgent. An unknown id creates a terminal (an agent with its own tasks and leases). Send its id as agent_id in later calls. If the id is taken, another id is returned.',
  input: z.strictObject({
    agent_id: chosenId().describe('Agent ID, such as terminal-2'),
    role: z.enum(['leader', 'worker']).describe('Agent role'),
    capabilities: texts('Default: unchanged', 50, 100)
      .refine((names) => !names.some(isReservedCapability), RESERVED)
      .optional(),
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
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  example: { agent_id: 'terminal-2', role: 'worker' },
  response: ({ agent, role, currentTask }: Membership) => ({
    success: true,
    agent: {
      id: agent.id,
      role,
      last_heartbeat: agent.last_seen,
      current_task: currentTask,
      tasks_completed: agent.tasks_completed,
      capabilities: agent.capability_details.map(({ name }) => name),
    },
  }),
  handler: ({ services, workspace, principal, recordResponse }, { agent_id, ...declared }) =>
    services.membership.join(principal, { agentId: agent_id, workspace, ...declared }, recordResponse),
});

export const heartbeat = defineTool({
  name: 'heartbeat',
  title: 'Send a heartbeat',
  description: 'Sends a heartbeat. Send one per minute during long work. Returns messages.',
  details: 'With read_until, confirms all messages up to it, so that they are not returned again.',
  input: z.strictObject({ agent_id: agentId, read_until: idOf('a message').optional().describe('Last message read') }),
  output: z.object({ success: z.boolean(), messages: messagesShape }),
  ...writing('worker', { destructiveHint: false, idempotentHint: true }),
  routine: true,
  example: { agent_id: 'terminal-2' },
  response: (messages: readonly Message[]) => ({ success: true, messages: optionalList(messages) }),
  handler: ({ services, workspace, principal, recordResponse }, { agent_id: name, read_until }) =>
    services.membership.heartbeat(principal, { workspace, name, readUntil: read_until }, recordResponse),
});

export const messageAgent = defineTool({
  name: 'message_agent',
  title: 'Message an agent',
  description: 'Messages an agent of this workspace; delivered with its next heartbeat or claim, or while it works.',
  details:
    'The message is delivered again until the agent confirms it with coordination.heartbeat and read_until. If a runner holds a task for the agent, its coding agent gets the message while it works, and at_work in the response states when: between_steps (with its next model request) or between_turns (after its current turn). next_claim: no coding agent can get it before the next claim of the runner. With task_id, everyone who can see the task can read the message. An agent has at most 20 unread messages per workspace; more are refused. Messages cannot be withdrawn.',
  input: z.strictObject({
    agent_id: chosenId().describe('Recipient'),
    message: text('Message text', 4000),
    task_id: taskId.optional(),
  }),
  output: z.object({
    success: z.boolean(),
    message_id: z.string(),
    at_work: z.enum(AT_WORK).optional().describe('When the coding agent of a runner gets it.'),
  }),
  ...writing('worker', { destructiveHint: false, idempotentHint: false }),
  example: { agent_id: 'terminal-2', message: 'The tests need Node 22.', task_id: 'task-xxx-002' },
  response: ({ id, at_work }: SentMessage) => ({ success: true, message_id: id, at_work }),
  handler: ({ services, workspace, principal, recordResponse }, { agent_id, message, task_id }) => {
    const letter = { workspace, agentId: agent_id, text: message, taskId: task_id };
    return services.messages.send(principal, letter, recordResponse);
  },
});
