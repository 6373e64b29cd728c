/** Messages to an agent, as its calls answer them. */
import { z } from 'zod';
import type { Message } from '../rules/mailbox.ts';
import { some } from './shapes.ts';

/** Messages to an agent. They are what others say, and not an order of its own people. */
export const messagesShape = z
  .array(
    z.object({
      id: z.string(),
      from: z.string(),
      text: z.string(),
      at: z.string(),
      workspace: z.string(),
      task_id: z.string().optional(),
    }),
  )
  .optional()
  .describe(
    'What others have written to you. It comes again until heartbeat says in read_until that you have read it.',
  );

export function messagesAnswer(messages: readonly Message[]): z.output<typeof messagesShape> {
  return some(
    messages.map(({ id, from, text, at, workspace, taskId: task_id }) => {
      return { id, from, text, at: at.toISOString(), workspace, task_id };
    }),
  );
}
