/** Grants, as Firestore keeps them. */
import { z } from 'zod';
import type { Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/firestore/codec.ts';
import { COLLECTIONS, grantPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../kernel/firestore/store.ts';
import type { Grant, GrantChanges } from '../rules/grant.ts';
import { announceAccess } from './accessChanges.ts';

export class GrantQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<Grant> | undefined> {
    return this.documents.findVersioned(await this.database.doc(grantPath(id)).get(), grantFromDocument);
  }

  /** Those that there are. */
  async findAll(ids: readonly string[]): Promise<readonly Grant[]> {
    if (ids.length === 0) return [];
    const found = await this.database.getAll(...ids.map((id) => this.database.doc(grantPath(id))));
    return found.flatMap((snapshot) => this.documents.find(snapshot, grantFromDocument) ?? []);
  }

  /** Those of several agents, at most 30. */
  async ofAgents(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]> {
    return (await this.withEnds(agentIds)).filter(({ value }) => value.end === undefined);
  }

  /** Like `ofAgents`, with the records of sign-ins that ended. */
  async withEnds(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]> {
    if (agentIds.length === 0) return [];
    const all = this.database.collection(COLLECTIONS.grants);
    const { docs } = await all.where('agent_id', 'in', [...agentIds]).get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, grantFromDocument));
  }
}

/** What an app may do that somebody has signed in from: `grants/{id}`. No token is stored, only hashes. */
export const { toDocument: grantToDocument, fromDocument: grantFromDocument } = documentCodec(
  z.object({
    id: z.string(),
    owner_uid: z.string(),
    /** The agent that the app is. */
    agent_id: z.string(),
    client_id: z.string(),
    /** As the app calls itself. */
    client_name: z.string(),
    /** Whose document describes the app; null where it has registered itself. */
    client_host: z.string().nullable(),
    /** The address that its tokens are good for, and all below it. */
    resource: z.string(),
    /** The only toolsets that it may use; null for all. */
    toolsets: z.array(z.string()).nullable(),
    /** The only workspace that it may use; null for all of its owner's. */
    held_to: z.string().nullable(),
    /** Whether it may change nothing. */
    readonly: z.literal(true).nullable(),
    created_at: timestamp,
    /** When it was last given tokens. */
    used_at: timestamp,
    /** When it ends unless it is used. */
    expires_at: timestamp,
    /** When it ends at the latest. */
    ends_at: timestamp,
    /** With the tokens, what their successors follow from. */
    salt: z.string(),
    code: z.object({
      hash: z.string(),
      /** The hash of what its client proves itself by: RFC 7636, S256. */
      challenge: z.string(),
      redirect_uri: z.string(),
      expires_at: timestamp,
      is_redeemed: z.boolean(),
    }),
    /** Null until the code is redeemed. */
    refresh_hash: z.string().nullable(),
    /** How many refresh tokens there were before. */
    rotated: z.int(),
    /** When the last of them were used. */
    recent_rotations: z.array(timestamp),
    access_tokens: z.array(z.object({ hash: z.string(), expires_at: timestamp })),
    /** If this is the record of a sign-in that ended: why and when. */
    end: z.object({ reason: z.string(), at: timestamp }).exactOptional(),
  }),
);

export const grantWriters: ChangeWriters<GrantChanges> = {
  createGrant({ grant }, writes) {
    writes.create(grantPath(grant.id), grantToDocument(grant));
  },
  replaceGrant({ grant, version, opensOther }, writes) {
    writes.replace(grantPath(grant.id), grantToDocument(grant), version);
    if (opensOther) announceAccess(writes, `grant:${grant.id}`);
  },
  endGrant({ id, record }, writes) {
    writes.delete(grantPath(id), { exists: true });
    if (record !== undefined) writes.set(grantPath(record.id), grantToDocument(record));
    announceAccess(writes, `grant:${id}`);
  },
};
