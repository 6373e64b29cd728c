/**
 * What instances that trust a credential look up anew: `accessChanges/{id}`, written in the commit that changes access.
 * Source: docs/decisions/0010-limits-trust-and-presence.md.
 */
import { FieldValue, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { accessChangePath, COLLECTIONS } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { CommitWrites } from '../../kernel/firestore/store.ts';
import type { Agent } from '../rules/agent.ts';
import type { AccessChangeQueries, AccessNews } from '../rules/ports.ts';
import { type AccessSubject, EVERYBODY } from '../rules/trust.ts';

/** Longer than any instance trusts what it has once looked up. */
const KEPT_MILLISECONDS = 2 * 3_600_000;

/** Firestore says when a write was asked for, which may be so long before it can be seen. */
const OVERLAP_MILLISECONDS = 10_000;

/** Where there are more, everybody is looked up anew. */
const MAX_CHANGES = 500;

const LETTERS = 20;

export const { fromDocument: accessChangeFromDocument } = documentCodec(
  z.object({
    /** Whose access: `agent:…`, `person:…`, `grant:…`, `key:…`, or `everybody`. */
    subject: z.string(),
    /** By Firestore's clock. */
    at: timestamp,
    expires_at: timestamp,
  }),
);

/** Has every instance look up, within 5 seconds, what somebody may do. */
export function announceAccess(writes: CommitWrites, subject: AccessSubject): void {
  writes.createLasting(accessChangePath(writes.randomness.letters(LETTERS)), {
    subject,
    at: FieldValue.serverTimestamp(),
    expires_at: new Date(writes.now.getTime() + KEPT_MILLISECONDS),
  });
}

/**
 * The same of an agent whose credentials open something else now, or that is to be noticed when it comes back.
 * @param before undefined where nobody knows
 */
export function announceAgent(writes: CommitWrites, before: Agent | undefined, agent: Agent): void {
  const isGone = before?.status === 'active' && agent.status === 'offline';
  const { role, owner_uid, workspace } = agent;
  const opensSame = before?.role === role && before.owner_uid === owner_uid && before.workspace === workspace;
  if (isGone || !opensSame) announceAccess(writes, `agent:${agent.id}`);
}

export class FirestoreAccessChangeQueries extends FirestoreReader implements AccessChangeQueries {
  async since(position: Date | undefined): Promise<AccessNews> {
    const all = this.database.collection(COLLECTIONS.accessChanges);
    if (position === undefined) {
      const { readTime } = await all.orderBy('at', 'desc').limit(1).get();
      return { changes: [], position: readTime.toDate() };
    }
    const from = Timestamp.fromMillis(position.getTime() - OVERLAP_MILLISECONDS);
    const { docs, readTime } = await all.where('at', '>', from).orderBy('at').limit(MAX_CHANGES).get();
    const changes = docs.flatMap((snapshot) =>
      this.documents
        .readable(snapshot, accessChangeFromDocument)
        .map(({ subject }) => ({ id: snapshot.id, subject })),
    );
    // What cannot be read may be about anybody.
    const isAll = docs.length < MAX_CHANGES && changes.length === docs.length;
    const more = isAll ? [] : [{ id: `${EVERYBODY} ${readTime.toMillis()}`, subject: EVERYBODY }];
    return { changes: [...changes, ...more], position: readTime.toDate() };
  }
}
