/** How entries of the trail are found. */
import type { Query } from '@google-cloud/firestore';
import type { Versioned } from '../../../kernel/commit.ts';
import { COLLECTIONS, trailPath } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { TrailEntry } from '../../../kernel/trail.ts';
import { entryFromDocument } from '../../../kernel/trail.ts';
import type { TrailFilter, TrailQueries } from '../rules/ports.ts';

export class FirestoreTrailQueries extends FirestoreReader implements TrailQueries {
  async find(id: string): Promise<Versioned<TrailEntry> | undefined> {
    return this.documents.findVersioned(await this.database.doc(trailPath(id)).get(), entryFromDocument);
  }

  list({ whose, narrowed, since, until, stands }: TrailFilter, page: Page): Promise<Slice<TrailEntry>> {
    const all: Query = this.database.collection(COLLECTIONS.trail);
    const own = 'ownerUid' in whose ? ofOwner(all, whose) : all.where('workspace', '==', whose.workspace);
    const some = narrowed === undefined ? own : narrowedTo(own, narrowed);
    const those = stands ? some.where('undone_by', '==', null) : some;
    const from = since === undefined ? those : those.where('at', '>=', since);
    const found = until === undefined ? from : from.where('at', '<=', until);
    return this.documents.slice(found, ['at', 'desc'], page, entryFromDocument);
  }
}

function ofOwner(all: Query, { ownerUid, calledIn }: { ownerUid: string; calledIn?: string | undefined }) {
  const own = all.where('by.owner_uid', '==', ownerUid);
  return calledIn === undefined ? own : own.where('by.workspace', '==', calledIn);
}

function narrowedTo(query: Query, narrowed: NonNullable<TrailFilter['narrowed']>): Query {
  if ('agentId' in narrowed) return query.where('by.agent_id', '==', narrowed.agentId);
  if ('runId' in narrowed) return query.where('by.run_id', '==', narrowed.runId);
  return query.where('things', 'array-contains', narrowed.thing);
}
