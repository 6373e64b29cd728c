/** Stored messages to one agent. */
import { z } from 'zod/mini';
import { documentCodec, timestamp } from '../../../kernel/documentCodec.ts';

export const { toDocument: mailboxToDocument, fromDocument: mailboxFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    /** Number of messages ever sent to the agent, which is also the number in the last message's id. */
    count: z.int(),
    /** Unread messages, oldest first. */
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
    /** The message that was added, for the audit log. */
    readonly sent?: Message;
  };
}
