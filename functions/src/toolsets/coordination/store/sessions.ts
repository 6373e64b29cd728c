import type { Firestore, Query } from '@google-cloud/firestore';
import { workspaceFromDocument } from '../../../access/rules/workspace.ts';
import { agentFromDocument } from '../../../agents/rules/agent.ts';
import type { Versioned } from '../../../kernel/commit.ts';
import {
  ARCHIVE,
  agentPath,
  archivedSessionPath,
  COLLECTIONS,
  countersPath,
  queueShardsPath,
  sessionPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import { type DocumentReading, FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { versioned, versionOf } from '../../../kernel/firestore/verifiedCommit.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import type { ListPage, PageRequest } from '../../../kernel/paging.ts';
import type { CountersNow, SessionAndAgent, SessionQueries, UnusedShards } from '../rules/ports.ts';
import {
  type ArchivedSession,
  counterFromDocument,
  type Discovery,
  discoveryFromDocument,
  MIN_COUNTER_SHARDS,
  type Opening,
  type OpenSession,
  type QueueShards,
  type Session,
  sessionFromDocument,
  sumCounters,
} from '../rules/session.ts';
import { OPEN } from './queries.ts';

const MAX_ATTEMPTS = 5;
const MAX_KEYS_PER_QUERY = 30;
const MAX_CACHED_SESSIONS = 1000;

/** Maximum number of queue version shards that a claim reads instead of querying the queue. */
const MAX_SHARDS_READ = 8;

export class FirestoreSessionQueries extends FirestoreReader implements SessionQueries {
  /** Last known open session per workspace. It saves a round trip, and every read checks that it is still open. */
  private readonly cached = new BoundedMap<string, QueueShards>(MAX_CACHED_SESSIONS);
  private readonly shardCounts: ShardCounts;

  constructor(database: Firestore, documents: DocumentReading, spreads: ShardCounts) {
    super(database, documents);
    this.shardCounts = spreads;
  }

  async current(workspace: string): Promise<OpenSession | undefined> {
    return (await this.opening(workspace)).open;
  }

  /** A session is open as long as its document exists, so the workspace need not be read. */
  async currentWithAgent(workspace: string, agentId: string): Promise<SessionAndAgent> {
    const known = this.cached.get(workspace) ?? (await this.current(workspace))?.session;
    let shards = known === undefined ? [] : queueShardPaths(known);
    if (shards.length > MAX_SHARDS_READ) shards = [];
    const paths = [agentPath(agentId), ...(known ? [sessionPath(workspace, known.id), ...shards] : [])];
    const [found, stored, ...queue] = await this.database.getAll(...paths.map((path) => this.database.doc(path)));
    const agent = found && this.documents.findVersioned(found, agentFromDocument);
    if (known === undefined || stored === undefined) return { open: undefined, agent };
    if (stored.updateTime === undefined) {
      this.cached.delete(workspace);
      return this.currentWithAgent(workspace, agentId);
    }
    const session = this.noted(this.documents.value(stored, sessionFromDocument));
    const isCurrent = session.spread === shards.length && session.first_gate === known.first_gate;
    const versions = [stored, ...queue].flatMap(({ updateTime }) => (updateTime ? [versionOf(updateTime)] : []));
    return {
      open: { session, readAt: versionOf(stored.readTime) },
      agent,
      ...(isCurrent && versions.length > shards.length && { growth: versions.join() }),
    };
  }

  async archived(workspace: string, session: string): Promise<Versioned<Session> | undefined> {
    const snapshot = await this.database.doc(archivedSessionPath(workspace, session)).get();
    return this.documents.findVersioned(snapshot, sessionFromDocument);
  }

  async lastArchived(workspace: string): Promise<Versioned<Session> | undefined> {
    const archive = this.database.doc(workspacePath(workspace)).collection(ARCHIVE);
    const latest = archive.orderBy('archived_at', 'desc');
    return (await this.documents.firstVersioned(latest, 1, sessionFromDocument))[0];
  }

  async uncleared(limit: number): Promise<readonly ArchivedSession[]> {
    const uncleared = this.database.collectionGroup(ARCHIVE).where('cleared', '==', false);
    const { docs } = await uncleared.limit(limit).get();
    return docs.map(({ id, ref }) => ({ id, workspace: ref.parent.parent?.id ?? '' }));
  }

  discoveries(session: string, tags: readonly string[] | undefined, page: PageRequest): Promise<ListPage<Discovery>> {
    const all: Query = this.database.collection(COLLECTIONS.discoveries).where('session', '==', session);
    const matching = tags === undefined ? all : all.where('tags', 'array-contains-any', tags);
    return this.documents.slice(matching, ['created_at', 'desc'], page, discoveryFromDocument);
  }

  async counters(workspace: string, session: string): Promise<CountersNow> {
    const { docs, readTime } = await this.database.collection(countersPath(workspace, session)).get();
    const stamp = docs.map(({ updateTime }) => versionOf(updateTime)).join();
    const counters = docs.flatMap((snapshot) => this.documents.readable(snapshot, counterFromDocument));
    // Only earlier releases write shards without bounds, so these shards do not show the load.
    const current = docs.filter((shard) => shard.get('may_be_late') !== undefined);
    const ages = current.map(({ updateTime }) => readTime.toMillis() - updateTime.toMillis());
    return { ...sumCounters(counters), stamp, ages };
  }

  async growthAges({ workspace, id }: Session): Promise<readonly number[]> {
    const { docs, readTime } = await this.database.collection(queueShardsPath(workspace, id)).get();
    return docs.map(({ updateTime }) => readTime.toMillis() - updateTime.toMillis());
  }

  async unusedShards({ workspace, id }: Session, keys: readonly string[], enough: number): Promise<UnusedShards> {
    const { docs } = await this.database.collection(queueShardsPath(workspace, id)).get();
    const shards = docs.map((gate) => versioned(gate.id, gate.updateTime));
    const open = this.database.collection(COLLECTIONS.tasks).where('session', '==', id).where('status', 'in', OPEN);
    const disused: string[] = [];
    for (let from = 0; from < keys.length && disused.length < enough; from += MAX_KEYS_PER_QUERY) {
      const some = keys.slice(from, from + MAX_KEYS_PER_QUERY);
      const found = await Promise.all(
        some.map((key) => open.where('capability_key', '==', key).limit(1).select().get()),
      );
      disused.push(...some.filter((_key, index) => found[index]?.empty));
    }
    return { shards, disused };
  }

  /** Reads a workspace and its session: in one round trip if the cached session is still open. */
  async opening(workspace: string, attempt = 1): Promise<Opening> {
    const guess = this.cached.get(workspace)?.id;
    const guessed = guess === undefined ? [] : [sessionPath(workspace, guess)];
    const [named, ...rest] = await this.database.getAll(
      ...[workspacePath(workspace), ...guessed].map((path) => this.database.doc(path)),
    );
    if (named?.updateTime === undefined) return {};
    const { session: name, proof } = this.documents.value(named, workspaceFromDocument);
    const { version: workspaceVersion } = versioned(name, named.updateTime);
    if (name === undefined) return { vacant: workspaceVersion, proof };
    const stored = guess === name ? rest[0] : await this.database.doc(sessionPath(workspace, name)).get();
    if (stored?.updateTime === undefined) {
      // The session was archived between the two reads. This is not expected to happen several times in a row.
      if (attempt === MAX_ATTEMPTS) throw new Error(`Workspace ${workspace} refers to a session that does not exist.`);
      return this.opening(workspace, attempt + 1);
    }
    const session = this.noted(this.documents.value(stored, sessionFromDocument));
    const sessionVersion = versionOf(stored.updateTime);
    return { open: { session, readAt: versionOf(named.readTime), sessionVersion, workspaceVersion }, proof };
  }

  private noted(session: Session): Session {
    this.cached.set(session.workspace, session);
    this.shardCounts.note(session);
    return session;
  }
}

export function queueShardPaths({ workspace, id, first_gate, spread }: QueueShards): readonly string[] {
  const collection = queueShardsPath(workspace, id);
  return Array.from({ length: spread }, (_, shard) => `${collection}/${first_gate + shard}`);
}

/**
 * Cached numbers of counter shards. A change of a task writes a counter, but does not always read the session. Reads
 * add up all shards, so an outdated number only causes more contention.
 */
export class ShardCounts {
  private readonly cached = new BoundedMap<string, number>(MAX_CACHED_SESSIONS);

  note({ id, counter_shards }: Session): void {
    this.cached.set(id, counter_shards);
  }

  of(session: string): number {
    return this.cached.get(session) ?? MIN_COUNTER_SHARDS;
  }
}
