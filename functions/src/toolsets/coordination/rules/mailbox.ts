/** The messages to an agent, as they are stored. */

import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';

export const { toDocument: mailboxToDocument, fromDocument: mailboxFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** How many there have ever been: the number of the last. */
    count: z.int(),
    /** Those that the agent has not read yet, oldest first. */
    messages: z.array(
      z.object({
        id: z.string(),
        from: z.string(),
        workspace: z.string(),
        text: z.string(),
        at: timestamp,
        task_id: z.exactOptional(z.string()),
      }),
    ),
  }),
);

export type Mailbox = ReturnType<typeof mailboxFromDocument>;

export type Message = Mailbox['messages'][number];

export interface MessageChanges {
  readonly replaceMailbox: {
    readonly mailbox: Mailbox;
    readonly version?: string;
    /** What somebody has put into it, for the trail. */
    readonly sent?: Message;
  };
}
