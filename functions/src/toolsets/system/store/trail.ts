/** How entries of the trail are found. */
import type { Query } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { COLLECTIONS, trailPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { entryFromDocument } from '../../../kernel/firestore/trail.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { TrailEntry } from '../../../kernel/trail.ts';

/** Whose entries, and which of them: of one agent, or about one thing. */
export interface TrailFilter {
  /** Those on behalf of a person, or those that tell of what belongs to a workspace. */
  readonly whose: { readonly ownerUid: string } | { readonly workspace: string };
  readonly narrowed?:
    | { readonly agentId: string }
    | { readonly runId: string }
    /** As thingKey names it. */
    | { readonly thing: string }
    | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

export class TrailQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<TrailEntry> | undefined> {
    return this.documents.findVersioned(await this.database.doc(trailPath(id)).get(), entryFromDocument);
  }

  /** Newest first. */
  list({ whose, narrowed, since, until }: TrailFilter, page: Page): Promise<Slice<TrailEntry>> {
    const all: Query = this.database.collection(COLLECTIONS.trail);
    const own =
      'ownerUid' in whose
        ? all.where('by.owner_uid', '==', whose.ownerUid)
        : all.where('workspace', '==', whose.workspace);
    const those = narrowed === undefined ? own : narrowedTo(own, narrowed);
    const from = since === undefined ? those : those.where('at', '>=', since);
    const found = until === undefined ? from : from.where('at', '<=', until);
    return this.documents.slice(found, 'at', 'desc', page, entryFromDocument);
  }
}

function narrowedTo(query: Query, narrowed: NonNullable<TrailFilter['narrowed']>): Query {
  if ('agentId' in narrowed) return query.where('by.agent_id', '==', narrowed.agentId);
  if ('runId' in narrowed) return query.where('by.run_id', '==', narrowed.runId);
  return query.where('things', 'array-contains', narrowed.thing);
}
