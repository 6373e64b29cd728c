/** Firestore queries for skills and the audit log. */
import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { type OfferedSkill, skillFromDocument } from '../../../agents/rules/agent.ts';
import { type AuditEntry, auditEntryFromDocument } from '../../../kernel/auditLog.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import { auditPath, COLLECTIONS } from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import { folded, lookupPrefix, matchesWords } from '../../../kernel/textSearch.ts';
import type { AuditFilter, AuditLogQueries, SkillFilter, SkillQueries } from '../rules/ports.ts';

/** If no index covers all conditions, at most this many documents are filtered in memory. */
const MAX_CANDIDATES = 1000;

/** Maximum offset, because Firestore reads and bills each skipped document. */
const MAX_SKIPPED = 100_000;

export class FirestoreSkillQueries extends FirestoreReader implements SkillQueries {
  async find(query: SkillFilter, offset: number, limit: number) {
    const [longest] = [...query.words].sort((a, b) => b.length - a.length);
    const candidates = this.candidates(query, longest);
    const rest = restOf(query, longest);
    if (rest !== undefined) {
      const matching = this.readable((await candidates.limit(MAX_CANDIDATES).get()).docs).filter(rest);
      return { skills: matching.slice(offset, offset + limit), total: matching.length };
    }
    const [counted, page] = await Promise.all([
      candidates.count().get(),
      limit === 0 || offset > MAX_SKIPPED ? undefined : candidates.offset(offset).limit(limit).get(),
    ]);
    return { skills: this.readable(page?.docs ?? []), total: counted.data().count };
  }

  /** An unreadable document shortens the page, because offsets count the document too. */
  private readable(snapshots: readonly DocumentSnapshot[]): readonly OfferedSkill[] {
    return snapshots.flatMap((snapshot) => this.documents.readable(snapshot, skillFromDocument));
  }

  /** Returns the query that an index covers: by the longest word, or else by category. */
  private candidates({ workspace, category, includeDeprecated }: SkillFilter, longest: string | undefined): Query {
    let query: Query = this.database.collection(COLLECTIONS.skills).where('workspace', '==', workspace);
    if (longest !== undefined) query = query.where('prefixes', 'array-contains', lookupPrefix(longest));
    else if (category !== undefined) query = query.where('category_folded', '==', folded(category));
    if (!includeDeprecated) query = query.where('agents', '>', 0);
    const ordered = query.orderBy('name_folded');
    return (includeDeprecated ? ordered : ordered.orderBy('agents')).orderBy(FieldPath.documentId());
  }
}

/** Returns a filter for the conditions that the index does not cover; undefined if it covers all. */
function restOf({ category, words }: SkillFilter, longest: string | undefined) {
  const isWhole = longest === undefined || (words.length === 1 && lookupPrefix(longest) === longest);
  if (isWhole && (longest === undefined || category === undefined)) return undefined;
  return (skill: OfferedSkill) =>
    matchesWords(skill.name, words) && (category === undefined || folded(skill.category) === folded(category));
}

export class FirestoreAuditLogQueries extends FirestoreReader implements AuditLogQueries {
  async find(id: string): Promise<Versioned<AuditEntry> | undefined> {
    return this.documents.findVersioned(await this.database.doc(auditPath(id)).get(), auditEntryFromDocument);
  }

  list({ whose, narrowed, since, until, notUndone }: AuditFilter, page: PageRequest): Promise<ListPage<AuditEntry>> {
    const all: Query = this.database.collection(COLLECTIONS.trail);
    const own = 'ownerUid' in whose ? ofOwner(all, whose) : all.where('workspace', '==', whose.workspace);
    const some = narrowed === undefined ? own : narrowedTo(own, narrowed);
    const those = notUndone ? some.where('undone_by', '==', null) : some;
    const from = since === undefined ? those : those.where('at', '>=', since);
    const found = until === undefined ? from : from.where('at', '<=', until);
    return this.documents.slice(found, ['at', 'desc'], page, auditEntryFromDocument);
  }
}

function ofOwner(all: Query, { ownerUid, calledIn }: { ownerUid: string; calledIn?: string | undefined }) {
  const own = all.where('by.owner_uid', '==', ownerUid);
  return calledIn === undefined ? own : own.where('by.workspace', '==', calledIn);
}

function narrowedTo(query: Query, narrowed: NonNullable<AuditFilter['narrowed']>): Query {
  if ('agentIds' in narrowed) return query.where('by.agent_id', 'in', narrowed.agentIds);
  if ('runId' in narrowed) return query.where('by.run_id', '==', narrowed.runId);
  return query.where('things', 'array-contains', narrowed.thing);
}
