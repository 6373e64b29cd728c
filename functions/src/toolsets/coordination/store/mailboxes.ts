/** Messages to agents: `mailboxes/{agentId}`, apart from the agents, which members of their homes may read. */

import type { Versioned } from '../../../kernel/commit.ts';
import { mailboxPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../../kernel/firestore/store.ts';
import {
  type Mailbox,
  type MessageChanges,
  mailboxFromDocument,
  mailboxToDocument,
} from '../rules/mailbox.ts';
import type { MailboxQueries } from '../rules/ports.ts';

export class FirestoreMailboxQueries extends FirestoreReader implements MailboxQueries {
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
