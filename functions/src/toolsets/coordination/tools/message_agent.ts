import { z } from 'zod';
import { chosenId } from '../../../kernel/ids.ts';
import type { Message } from '../rules/mailbox.ts';
import { defineTool, taskId, text } from './coordinationAnswers.ts';

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
