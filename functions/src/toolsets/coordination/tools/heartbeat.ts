import { z } from 'zod';
import { idOf } from '../../../kernel/ids.ts';
import type { Message } from '../rules/mailbox.ts';
import { agentId, defineTool, messagesAnswer, messagesShape } from './coordinationAnswers.ts';

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
