/** How sessions, archived ones and discoveries are found. */
import type { DocumentSnapshot, Query } from '@google-cloud/firestore';
import type { MemberCount } from '../../../access/rules/agent.ts';
import { agentFromDocument } from '../../../access/store/agents.ts';
import {
  ARCHIVE,
  agentPath,
  archivedSessionPath,
  COLLECTIONS,
  COUNTER_SHARDS,
  countersPath,
  MEMBER_SHARDS,
  membersPath,
  sessionPath,
  workspacePath,
} from '../../../kernel/firestore/paths.ts';
import { versioned } from '../../../kernel/firestore/provenCommit.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { BoundedMap } from '../../../kernel/memoCache.ts';
import type { Page, Slice } from '../../../kernel/paging.ts';
import type { PortOf } from '../../../kernel/ports.ts';
import {
  type ArchivedSession,
  type Discovery,
  type Session,
  type SessionCounters,
  sumCounters,
} from '../rules/session.ts';
import {
  counterFromDocument,
  discoveryFromDocument,
  memberFromDocument,
  sessionFromDocument,
  sumMembers,
  workspaceFromDocument,
} from './documents.ts';

const MAX_ATTEMPTS = 5;

/** How many workspaces' session names an instance remembers. */
const MAX_REMEMBERED = 1000;

/** A workspace's open session, with the versions of its document and of the workspace's, which names it. */
export interface OpenSession {
  readonly session: Session;
  readonly sessionVersion: string;
  readonly workspaceVersion: string;
}

export class SessionQueries extends FirestoreReader {
  /** Which session each workspace last had open: a guess that saves a round trip, checked at every read. */
  private readonly remembered = new BoundedMap<string, string>(MAX_REMEMBERED);

  async current(workspace: string): Promise<OpenSession | undefined> {
    return (await this.read(workspace, [])).open;
  }

  /** The agent and the open session in one round trip. */
  async currentWithAgent(workspace: string, agentId: string) {
    const { open, more } = await this.read(workspace, [agentPath(agentId)]);
    return { open, agent: more[0] && this.documents.findVersioned(more[0], agentFromDocument) };
  }

  /** A session that another goal has replaced. */
  async archived(workspace: string, session: string): Promise<Session | undefined> {
    const snapshot = await this.database.doc(archivedSessionPath(workspace, session)).get();
    return this.documents.find(snapshot, sessionFromDocument);
  }

  /** Sessions that were archived and not cleared yet. */
  async uncleared(limit: number): Promise<readonly ArchivedSession[]> {
    const uncleared = this.database.collectionGroup(ARCHIVE).where('cleared', '==', false);
    const { docs } = await uncleared.limit(limit).get();
    return docs.map(({ id, ref }) => ({ id, workspace: ref.parent.parent?.id ?? '' }));
  }

  /** Newest first, with any of `tags` where given. */
  discoveries(session: string, tags: readonly string[] | undefined, page: Page): Promise<Slice<Discovery>> {
    const all: Query = this.database.collection(COLLECTIONS.discoveries).where('session', '==', session);
    const matching = tags === undefined ? all : all.where('tags', 'array-contains-any', tags);
    return this.documents.slice(matching, 'created_at', 'desc', page, discoveryFromDocument);
  }

  async counters(workspace: string, session: string): Promise<SessionCounters> {
    const snapshots = await this.shards(countersPath(workspace, session), COUNTER_SHARDS);
    const stamp = snapshots.map(({ updateTime: at }) => `${at?.seconds}.${at?.nanoseconds}`).join();
    return { ...sumCounters(this.readable(snapshots, counterFromDocument)), stamp };
  }

  /** How many agents have registered in the workspace. */
  async members(workspace: string): Promise<MemberCount> {
    const snapshots = await this.shards(membersPath(workspace), MEMBER_SHARDS);
    return sumMembers(this.readable(snapshots, memberFromDocument));
  }

  private readable<Shard>(
    snapshots: readonly DocumentSnapshot[],
    fromDocument: (data: unknown) => Shard,
  ): readonly Shard[] {
    return snapshots.flatMap((snapshot) => this.documents.readable(snapshot, fromDocument));
  }

  /** A count's documents, as far as they exist. */
  private async shards(path: string, count: number): Promise<readonly DocumentSnapshot[]> {
    const documents = Array.from({ length: count }, (_, shard) => this.database.doc(`${path}/${shard}`));
    const snapshots = await this.database.getAll(...documents);
    return snapshots.filter((snapshot) => snapshot.exists);
  }

  /** Reads the workspace, its session where the guess is right, and more documents, in one round trip. */
  private async read(
    workspace: string,
    paths: readonly string[],
    attempt = 1,
  ): Promise<{ open: OpenSession | undefined; more: readonly DocumentSnapshot[] }> {
    const guess = this.remembered.get(workspace);
    const guessed = guess === undefined ? [] : [sessionPath(workspace, guess)];
    const snapshots = await this.database.getAll(
      ...[workspacePath(workspace), ...paths, ...guessed].map((path) => this.database.doc(path)),
    );
    const [named, ...rest] = snapshots;
    const more = rest.slice(0, paths.length);
    if (named?.updateTime === undefined) return { open: undefined, more };
    const name = this.documents.value(named, workspaceFromDocument);
    const stored =
      guess === name ? rest[paths.length] : await this.database.doc(sessionPath(workspace, name)).get();
    this.remembered.set(workspace, name);
    if (stored?.updateTime === undefined) {
      // Archived between the two reads; but not time and again.
      if (attempt === MAX_ATTEMPTS)
        throw new Error(`Workspace ${workspace} names a session that is not there.`);
      return this.read(workspace, paths, attempt + 1);
    }
    const session = versioned(this.documents.value(stored, sessionFromDocument), stored.updateTime);
    const { version: workspaceVersion } = versioned(name, named.updateTime);
    return { open: { session: session.value, sessionVersion: session.version, workspaceVersion }, more };
  }
}

export type SessionReader = PortOf<SessionQueries>;
