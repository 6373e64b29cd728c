/** Grants, as Firestore keeps them. */

import type { Versioned } from '../../kernel/commit.ts';
import { COLLECTIONS, grantPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../kernel/firestore/store.ts';
import { type Grant, type GrantChanges, grantFromDocument, grantToDocument } from '../rules/grant.ts';
import type { GrantQueries } from '../rules/ports.ts';
import { announceAccess } from './accessChanges.ts';

export class FirestoreGrantQueries extends FirestoreReader implements GrantQueries {
  async find(id: string): Promise<Versioned<Grant> | undefined> {
    return this.documents.findVersioned(await this.database.doc(grantPath(id)).get(), grantFromDocument);
  }

  async findAll(ids: readonly string[]): Promise<readonly Grant[]> {
    if (ids.length === 0) return [];
    const found = await this.database.getAll(...ids.map((id) => this.database.doc(grantPath(id))));
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
    if (opensOther) announceAccess(writes, `grant:${grant.id}`);
  },
  endGrant({ id, record }, writes) {
    writes.delete(grantPath(id), { exists: true });
    if (record !== undefined) writes.set(grantPath(record.id), grantToDocument(record));
    announceAccess(writes, `grant:${id}`);
  },
};
