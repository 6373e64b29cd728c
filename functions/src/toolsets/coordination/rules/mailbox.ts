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

/** A message about a task, kept with the task. Everyone with the role viewer can read it. */
export const taskMessageDocument = z.object({
  workspace: z.string(),
  /** Id of the agent, or uid of the person, that sent the message. */
  from: z.string(),
  /** Id of the agent that receives the message. */
  to: z.string(),
  text: z.string(),
  at: timestamp,
  /** Time at which the agent confirmed the message; null until then. */
  read_at: z.nullable(timestamp),
});

export const { toDocument: taskMessageToDocument, fromDocument: taskMessageFromDocument } =
  documentCodec(taskMessageDocument);

export interface MessageChanges {
  readonly replaceMailbox: {
    readonly mailbox: Mailbox;
    readonly version?: string;
    /** The message that was added. */
    readonly sent?: Message;
    /** Messages from Muster itself that were added. */
    readonly noticed?: readonly Message[];
    /** The messages that were removed, because the agent has read them. */
    readonly read?: readonly Message[];
  };
}
