/** Messages to agents: `mailboxes/{agentId}`, apart from the agents, which members of their homes may read. */
import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import { mailboxPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import type { MessageChanges } from '../rules/messages.ts';

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
        task_id: z.string().exactOptional(),
      }),
    ),
  }),
);

export type Mailbox = ReturnType<typeof mailboxFromDocument>;

export class MailboxQueries extends FirestoreReader {
  async find(agentId: string): Promise<Versioned<Mailbox> | undefined> {
    const snapshot = await this.database.doc(mailboxPath(agentId)).get();
    return this.documents.findVersioned(snapshot, mailboxFromDocument);
  }
}

export const mailboxWriters: ChangeWriters<MessageChanges> = {
  replaceMailbox({ mailbox, version }, writes) {
    writes.createOrReplace(mailboxPath(mailbox.id), mailboxToDocument(mailbox), version);
  },
};
