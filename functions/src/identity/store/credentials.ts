/**
 * Credentials and grants in Firestore. Every commit that changes access also creates a document `accessChanges/{id}`,
 * from which instances learn which entries of their credential cache to evict. Source:
 * docs/decisions/0010-limits-trust-and-presence.md.
 */
import { FieldPath, FieldValue, type Query, Timestamp } from '@google-cloud/firestore';
import { z } from 'zod/mini';
import type { Versioned } from '../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../kernel/documentCodec.ts';
import { accessChangePath, COLLECTIONS, credentialPath, grantPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters, CommitWrites } from '../../kernel/firestore/store.ts';
import { chunksOf } from '../../kernel/paging.ts';
import {
  type AccessSubject,
  type Credential,
  type CredentialChanges,
  credentialCodec,
  credentialFromDocument,
  EVERYONE,
  type Link,
} from '../rules/credential.ts';
import { type Grant, type GrantChanges, grantFromDocument, grantToDocument } from '../rules/grant.ts';
import type { AccessChangeQueries, AccessInvalidation, CredentialQueries, GrantQueries } from '../rules/ports.ts';

/** Returns the field with the agents of a credential chain, by which the chain's descendants are queried. */
export function registrantsIn(links: readonly Link[] | undefined): { readonly registrants?: string[] } {
  return links ? { registrants: [...new Set(links.map(({ agent_id }) => agent_id))] } : {};
}

/** Maximum number of credentials of an agent. Concurrent registrations can create more than one. */
const MAX_CREDENTIALS = 20;

/** Maximum number of values that Firestore allows in an `in` query. */
const MAX_IN = 30;

export class FirestoreCredentialQueries extends FirestoreReader implements CredentialQueries {
  private readonly credentialDocuments: Query = this.database.collection(COLLECTIONS.credentials);

  credentials(agentId: string): Promise<readonly Credential[]> {
    const own = this.credentialDocuments.where('agent_id', '==', agentId).limit(MAX_CREDENTIALS);
    return this.documents.all(own, credentialFromDocument);
  }

  async credentialsOf(agentIds: readonly string[]): Promise<readonly Credential[]> {
    if (agentIds.length === 0) return [];
    return this.documents.all(this.credentialDocuments.where('agent_id', 'in', [...agentIds]), credentialFromDocument);
  }

  async hasCredential(agentId: string): Promise<boolean> {
    const those = this.credentialDocuments.where('agent_id', '==', agentId);
    return !(await those.limit(1).select().get()).empty;
  }

  async ofLines(lines: readonly string[]): Promise<readonly Credential[]> {
    const unrenewed = await this.documentsAt(lines.map(credentialPath));
    const first = unrenewed.flatMap((snapshot) => this.documents.find(snapshot, credentialFromDocument) ?? []);
    const found = new Set(first.map(({ api_key }) => api_key));
    const renewed = lines.filter((line) => !found.has(line));
    const queries = chunksOf(renewed, MAX_IN).map((some) => this.credentialDocuments.where('line', 'in', [...some]));
    const pages = await Promise.all(queries.map((query) => this.documents.all(query, credentialFromDocument)));
    return [...first, ...pages.flat()];
  }

  credentialsThrough(agentId: string, limit: number, after?: string): Promise<readonly Credential[]> {
    const through = this.credentialDocuments.where('registrants', 'array-contains', agentId);
    const ordered = through.orderBy(FieldPath.documentId()).limit(limit);
    return this.documents.all(after === undefined ? ordered : ordered.startAfter(after), credentialFromDocument);
  }
}

export const credentialWriters: ChangeWriters<CredentialChanges> = {
  issueCredential({ credential }, writes) {
    writes.create(credentialPath(credential.api_key), credentialToDocument(credential));
  },
  withdrawCredential({ apiKey, line }, writes) {
    // `exists` makes one of two concurrent registrations fail. Equal profiles alone would cause no conflict.
    writes.delete(credentialPath(apiKey), { exists: true });
    recordAccessChange(writes, `key:${apiKey}`);
    if (line !== undefined && line !== apiKey) recordAccessChange(writes, `key:${line}`);
  },
};

/** Converts a credential to its document, and adds the agents of its chain, by which queries find descendants. */
export function credentialToDocument(credential: Credential): Record<string, unknown> {
  return { ...credentialCodec.toDocument(credential), ...registrantsIn(credential.ancestors) };
}

export class FirestoreGrantQueries extends FirestoreReader implements GrantQueries {
  async find(id: string): Promise<Versioned<Grant> | undefined> {
    return this.documents.findVersioned(await this.database.doc(grantPath(id)).get(), grantFromDocument);
  }

  async findAll(ids: readonly string[]): Promise<readonly Grant[]> {
    const found = await this.documentsAt(ids.map(grantPath));
    return found.flatMap((snapshot) => this.documents.find(snapshot, grantFromDocument) ?? []);
  }

  async ofAgents(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]> {
    return (await this.withEnds(agentIds)).filter(({ value }) => value.end === undefined);
  }

  async withEnds(agentIds: readonly string[]): Promise<readonly Versioned<Grant>[]> {
    if (agentIds.length === 0) return [];
    const all = this.database.collection(COLLECTIONS.grants);
    const { docs } = await all.where('agent_id', 'in', [...agentIds]).get();
    return docs.flatMap((snapshot) => this.documents.readableVersioned(snapshot, grantFromDocument));
  }
}

export const grantWriters: ChangeWriters<GrantChanges> = {
  createGrant({ grant }, writes) {
    writes.create(grantPath(grant.id), grantToDocument(grant));
  },
  replaceGrant({ grant, version, opensOther }, writes) {
    writes.replace(grantPath(grant.id), grantToDocument(grant), version);
    if (opensOther) recordAccessChange(writes, `grant:${grant.id}`);
  },
  endGrant({ id, record }, writes) {
    writes.delete(grantPath(id), { exists: true });
    if (record !== undefined) writes.set(grantPath(record.id), grantToDocument(record));
    recordAccessChange(writes, `grant:${id}`);
  },
};

/** Time for which access changes are kept. It is longer than the lifetime of entries in the credential cache. */
const ACCESS_CHANGE_TTL_MS = 2 * 3_600_000;

/** Time by which successive reads overlap. A write may become visible this long after its server timestamp. */
const READ_OVERLAP_MS = 10_000;

/** Maximum number of access changes per read. If a read finds more, the whole cache is evicted. */
const MAX_CHANGES = 500;
const ID_LETTERS = 20;

export const { fromDocument: accessChangeFromDocument } = documentCodec(
  z.object({
    /** Caller whose access changed: `agent:…`, `person:…`, `grant:…`, `key:…`, or `everybody`. */
    subject: z.string(),
    at: timestamp,
    expires_at: timestamp,
  }),
);

/** Adds an access change to a commit. Within 5 seconds, every instance reads the subject's access again. */
export function recordAccessChange(writes: CommitWrites, subject: AccessSubject): void {
  writes.createPermanent(accessChangePath(writes.randomness.letters(ID_LETTERS)), {
    subject,
    at: FieldValue.serverTimestamp(),
    expires_at: new Date(writes.now.getTime() + ACCESS_CHANGE_TTL_MS),
  });
}

export class FirestoreAccessChangeQueries extends FirestoreReader implements AccessChangeQueries {
  async since(position: Date | undefined): Promise<AccessInvalidation> {
    const all = this.database.collection(COLLECTIONS.accessChanges);
    if (position === undefined) {
      const { readTime } = await all.orderBy('at', 'desc').limit(1).get();
      return { changes: [], position: readTime.toDate() };
    }
    const from = Timestamp.fromMillis(position.getTime() - READ_OVERLAP_MS);
    const { docs, readTime } = await all.where('at', '>', from).orderBy('at').limit(MAX_CHANGES).get();
    const changes = docs.flatMap((snapshot) =>
      this.documents.readable(snapshot, accessChangeFromDocument).map(({ subject }) => ({ id: snapshot.id, subject })),
    );
    // An unreadable access change may concern any caller.
    const isAll = docs.length < MAX_CHANGES && changes.length === docs.length;
    const more = isAll ? [] : [{ id: `${EVERYONE} ${readTime.toMillis()}`, subject: EVERYONE }];
    return { changes: [...changes, ...more], position: readTime.toDate() };
  }
}
