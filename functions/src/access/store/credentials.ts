/** The credentials of agents, as Firestore keeps them. */

import { FieldPath, type Query } from '@google-cloud/firestore';
import { COLLECTIONS, credentialPath } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import type { ChangeWriters } from '../../kernel/firestore/store.ts';
import type { Credential, CredentialChanges } from '../rules/credential.ts';
import { credentialCodec, credentialFromDocument } from '../rules/credential.ts';
import type { CredentialQueries } from '../rules/ports.ts';
import { announceAccess } from './accessChanges.ts';
import { registrantsIn } from './lineage.ts';

/** Registering again replaces the credential, so an agent has one, or a few while registrations meet. */
const MAX_CREDENTIALS = 20;

/** Firestore compares a field with so many values at a time. */
const MAX_IN = 30;

export class FirestoreCredentialQueries extends FirestoreReader implements CredentialQueries {
  async credentials(agentId: string): Promise<readonly Credential[]> {
    const found = await this.credentialDocuments
      .where('agent_id', '==', agentId)
      .limit(MAX_CREDENTIALS)
      .get();
    return found.docs.flatMap((snapshot) => this.documents.readable(snapshot, credentialFromDocument));
  }

  async credentialsOf(agentIds: readonly string[]): Promise<readonly Credential[]> {
    if (agentIds.length === 0) return [];
    const { docs } = await this.credentialDocuments.where('agent_id', 'in', [...agentIds]).get();
    return docs.flatMap((snapshot) => this.documents.readable(snapshot, credentialFromDocument));
  }

  async hasCredential(agentId: string): Promise<boolean> {
    const those = this.credentialDocuments.where('agent_id', '==', agentId);
    return !(await those.limit(1).select().get()).empty;
  }

  async ofLines(lines: readonly string[]): Promise<readonly Credential[]> {
    if (lines.length === 0) return [];
    const unrenewed = await this.database.getAll(
      ...lines.map((line) => this.database.doc(credentialPath(line))),
    );
    const first = unrenewed.flatMap(
      (snapshot) => this.documents.find(snapshot, credentialFromDocument) ?? [],
    );
    const found = new Set(first.map(({ apiKey }) => apiKey));
    const renewed = lines.filter((line) => !found.has(line));
    const pages = await Promise.all(chunksOf(renewed).map((some) => this.renewedOf(some)));
    return [...first, ...pages.flat()];
  }

  private async renewedOf(lines: readonly string[]): Promise<readonly Credential[]> {
    const { docs } = await this.credentialDocuments.where('line', 'in', [...lines]).get();
    return docs.flatMap((snapshot) => this.documents.readable(snapshot, credentialFromDocument));
  }

  async credentialsThrough(agentId: string, limit: number, after?: string): Promise<readonly Credential[]> {
    const through = this.credentialDocuments.where('registrants', 'array-contains', agentId);
    const ordered = through.orderBy(FieldPath.documentId()).limit(limit);
    const { docs } = await (after === undefined ? ordered : ordered.startAfter(after)).get();
    return docs.flatMap((snapshot) => this.documents.readable(snapshot, credentialFromDocument));
  }

  private get credentialDocuments(): Query {
    return this.database.collection(COLLECTIONS.credentials);
  }
}

function chunksOf(values: readonly string[]): readonly (readonly string[])[] {
  return values.flatMap((_, index) => (index % MAX_IN === 0 ? [values.slice(index, index + MAX_IN)] : []));
}

export const credentialWriters: ChangeWriters<CredentialChanges> = {
  issueCredential({ credential }, writes) {
    writes.create(credentialPath(credential.apiKey), credentialToDocument(credential));
  },
  withdrawCredential({ apiKey, line }, writes) {
    // Two registrations may write the same profile, which Firestore takes for no change: this tells them apart.
    writes.delete(credentialPath(apiKey), { exists: true });
    announceAccess(writes, `key:${apiKey}`);
    if (line !== undefined && line !== apiKey) announceAccess(writes, `key:${line}`);
  },
};

/** With the agents of its ancestors, by which the descendants of an agent are found. */
export function credentialToDocument(credential: Credential): Record<string, unknown> {
  return { ...credentialCodec.toDocument(credential), ...registrantsIn(credential.ancestors) };
}
