/** Storage of agents and skills in Firestore. */
import { type DocumentSnapshot, FieldPath, FieldValue, type Query } from '@google-cloud/firestore';
import { type Credential, credentialFromDocument } from '../../identity/rules/credential.ts';
import type { GrantChanges } from '../../identity/rules/grant.ts';
import { credentialWriters, FirestoreCredentialQueries, recordAccessChange } from '../../identity/store/credentials.ts';
import type { Versioned } from '../../kernel/commit.ts';
import type { Fields } from '../../kernel/documentCodec.ts';
import { effectsOf } from '../../kernel/effects.ts';
import * as paths from '../../kernel/firestore/paths.ts';
import { FirestoreReader, readDue } from '../../kernel/firestore/reading.ts';
import { type ChangeWriters, type CommitWrites, type EffectsOf, increments } from '../../kernel/firestore/store.ts';
import { atVersion } from '../../kernel/firestore/verifiedCommit.ts';
import { byteLength, MAX_LISTED_BYTES } from '../../kernel/json.ts';
import type { CursorPage, ListCursor, ListPage, SweepBatch, TimeCursor } from '../../kernel/paging.ts';
import { folded, prefixesOf } from '../../kernel/textSearch.ts';
import {
  type Agent,
  type AgentChanges,
  type AgentCount,
  type Availability,
  agentCodec,
  agentCountFromDocument,
  agentFromDocument,
  type ClosedWork,
  foldedCapability,
  isIn,
  membershipIn,
  skillFromDocument,
  skillToDocument,
  sumAgents,
  workspacesOf,
} from '../rules/agent.ts';
import { availability } from '../rules/liveness.ts';
import type { AgentDirectory, AgentQueries, AgentQuery } from '../rules/ports.ts';

export class FirestoreAgentQueries extends FirestoreCredentialQueries implements AgentQueries {
  async find(agentId: string): Promise<Versioned<Agent> | undefined> {
    return this.documents.findVersioned(await this.database.doc(paths.agentPath(agentId)).get(), agentFromDocument);
  }

  async findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]> {
    const found = await this.documentsAt(agentIds.map(paths.agentPath));
    return found.flatMap((snapshot) => this.documents.findVersioned(snapshot, agentFromDocument) ?? []);
  }

  offlineTerminals(before: Date, limit: number, after?: TimeCursor): Promise<SweepBatch<Versioned<Agent>>> {
    const offline = this.database.collection(paths.COLLECTIONS.agents).where('status', '==', 'offline');
    return readDue(offline, 'last_seen', { now: before, limit, after }, (snapshot) =>
      this.documents
        .readableVersioned(snapshot, agentFromDocument)
        .filter(({ value }) => value.registered_by !== undefined),
    );
  }

  async skillCounts(ids: readonly string[]) {
    const found = await this.documentsAt(ids.map(paths.skillPath));
    return found.flatMap((snapshot) => this.documents.readableVersioned(snapshot, skillFromDocument));
  }

  async findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined> {
    const snapshot = await this.database.doc(paths.credentialPath(apiKey)).get();
    const credential = this.documents.find(snapshot, credentialFromDocument);
    if (credential === undefined) return undefined;
    const agent = await this.find(credential.agent_id);
    return agent && { credential, agent: agent.value };
  }
}

export const agentWriters: ChangeWriters<AgentChanges> = {
  ...credentialWriters,
  createAgent({ agent }, writes) {
    writes.create(paths.agentPath(agent.id), agentToDocument(agent));
  },
  replaceAgent({ agent, before, version }, writes) {
    writes.replace(paths.agentPath(agent.id), agentToDocument(agent), version);
    recordAgentAccessChange(writes, before, agent);
  },
  holdTask({ agent, taskId, version }, writes) {
    const { status, last_seen, active_since, milestones, held_count, free_slots } = agentToDocument(agent);
    const fields = { status, last_seen, active_since, milestones, held_count, free_slots };
    const task = agent.held[taskId];
    const held = task && { session: task.session, claim_epoch: task.claim_epoch };
    const pairs = [new FieldPath('held', taskId), held, ...Object.entries(fields).flat()] as const;
    writes.batch.update(writes.document(paths.agentPath(agent.id), version), ...pairs, atVersion(version));
  },
  releaseTask({ agentId, taskId, wasHeld, closed }, writes) {
    // The agent was not read before, so the database increments the agent's numbers.
    const fields = {
      ...(wasHeld && increments({ held_count: -1, free_slots: 1 })),
      ...(closed && closedFields(closed)),
    };
    writes.updateIfExists(paths.agentPath(agentId), [
      [new FieldPath('held', taskId), FieldValue.delete()],
      ...Object.entries(fields),
    ]);
  },
  setHasMessages({ agentId, has_messages }, writes) {
    writes.updateIfExists(paths.agentPath(agentId), [['has_messages', has_messages]]);
    recordAccessChange(writes, `agent:${agentId}`);
  },
  countAgents({ workspace, by }, writes) {
    const shard = `${paths.agentCountsPath(workspace)}/${writes.randomness.integer(paths.AGENT_COUNT_SHARDS)}`;
    writes.merge(shard, increments({ ...by }));
  },
  offerSkill({ skill, agents }, writes) {
    writes.merge(paths.skillPath(skill.id), {
      ...skillToDocument({ ...skill, agents }),
      ...increments({ agents }),
      ...skillIndex(skill),
    });
  },
  withdrawSkill({ id }, writes) {
    writes.merge(paths.skillPath(id), increments({ agents: -1 }));
  },
  removeAgent({ agent: { id }, version }, writes) {
    writes.deleteAt(paths.agentPath(id), version);
    writes.delete(paths.mailboxPath(id));
    recordAccessChange(writes, `agent:${id}`);
  },
  removeSkill({ id, version }, writes) {
    writes.deleteAt(paths.skillPath(id), version);
  },
};

/** Returns the fields by which skills are searched and sorted. */
export function skillIndex({ name, category }: { readonly name: string; readonly category: string }) {
  return { name_folded: folded(name), category_folded: folded(category), prefixes: prefixesOf(name) };
}

function closedFields({ status, at, milliseconds }: ClosedWork) {
  const isDone = status === 'done';
  return {
    ...increments({ work_milliseconds: milliseconds, [isDone ? 'tasks_completed' : 'tasks_failed']: 1 }),
    last_failed: !isDone,
    ...(isDone && { last_completed_at: at }),
  };
}

/** Adds fields for queries and display. `free_slots` is negative if the agent holds more tasks than its maximum. */
export function agentToDocument(agent: Agent): Record<string, unknown> {
  const heldCount = Object.keys(agent.held).length;
  return {
    ...agentCodec.toDocument(agent),
    // Names only, as in the firebase.read example of the network specification.
    capabilities: agent.capability_details.map(({ name }) => name),
    capability_names: foldedNames(agent),
    workspaces: workspacesOf(agent),
    workspace_capabilities: workspacesOf(agent).flatMap((workspace) =>
      foldedNames(agent).map((name) => capabilityIn(workspace, name)),
    ),
    leads: workspacesOf(agent).filter((workspace) => membershipIn(agent, workspace) === 'leader'),
    held_count: heldCount,
    free_slots: agent.configuration.max_concurrent_tasks - heldCount,
  };
}

/** Joins a workspace and a capability with "|", because a query can match only one array element. */
export function capabilityIn(workspace: string, foldedName: string): string {
  return `${workspace}|${foldedName}`;
}

/** Returns the normalized names of an agent's capabilities, without repetitions. */
export function foldedNames({ capability_details: capabilities }: Agent): readonly string[] {
  return [...new Set(capabilities.map(({ name }) => foldedCapability(name)))];
}

/**
 * Records an access change if an agent's access changed or it went offline. Instances then read the agent again.
 * @param before undefined if the agent's state before the change is unknown
 */
export function recordAgentAccessChange(writes: CommitWrites, before: Agent | undefined, agent: Agent): void {
  const wentOffline = before?.status === 'active' && agent.status === 'offline';
  const { role, owner_uid, workspace } = agent;
  const opensSame = before?.role === role && before.owner_uid === owner_uid && before.workspace === workspace;
  if (wentOffline || !opensSame) recordAccessChange(writes, `agent:${agent.id}`);
}

/** Maximum number of agents that one call reads in addition to its results, if no index covers the whole query. */
const MAX_SKIPPED = 200;

/** Lists and counts agents of a workspace. Besides its results, each call reads only a limited number of agents. */
export class FirestoreAgentDirectory extends FirestoreReader implements AgentDirectory {
  private readonly agents: Query = this.database.collection(paths.COLLECTIONS.agents);

  async list(query: AgentQuery, limit: number, after: ListCursor | undefined): Promise<CursorPage<Agent>> {
    const { indexed, order } = this.indexed(query);
    const ordered = indexed.orderBy(FieldPath.documentId());
    const continued = after?.order.length === order.length ? ordered.startAfter(...after.order, after.id) : ordered;
    const max = limit + MAX_SKIPPED;
    const items: Agent[] = [];
    let last: DocumentSnapshot | undefined;
    let looked = 0;
    let bytes = 0;
    const { availability: kind, type, capabilities } = query;
    const filters = capabilities.length + Number(kind !== undefined) + Number(type !== undefined);
    // If there is at most one filter, an index covers the query, and every document that is read matches.
    const wanted = filters <= 1 ? limit + 1 : max + 1;
    const found = this.documents.first(continued, wanted, agentFromDocument);
    for await (const { value: agent, snapshot } of found) {
      const isMatch = matches(agent, query);
      if (isMatch) bytes += shownBytes(agent);
      const isFull = items.length === limit || looked === max;
      const isLong = isMatch && items.length > 0 && bytes > MAX_LISTED_BYTES;
      if (last !== undefined && (isFull || isLong)) return { items, next: cursorOf(last, order) };
      last = snapshot;
      looked++;
      if (isMatch) items.push(agent);
    }
    return { items };
  }

  async count(workspace: string, kind: 'active' | 'busy' | 'error'): Promise<number> {
    const counted = await this.available(workspace, kind).indexed.count().get();
    return counted.data().count;
  }

  async counts(workspace: string): Promise<AgentCount> {
    const path = paths.agentCountsPath(workspace);
    const shards = Array.from({ length: paths.AGENT_COUNT_SHARDS }, (_, shard) => `${path}/${shard}`);
    const snapshots = await this.documentsAt(shards);
    return sumAgents(snapshots.flatMap((snapshot) => this.documents.readable(snapshot, agentCountFromDocument)));
  }

  online(workspace: string, limit: number): Promise<ListPage<Agent>> {
    const live = this.within(workspace).where('status', '==', 'active');
    return this.documents.page(live, limit, agentFromDocument);
  }

  ofOwner(ownerUid: string, limit: number, after: string | undefined): Promise<ListPage<Agent>> {
    const own = this.agents.where('owner_uid', '==', ownerUid).orderBy(FieldPath.documentId());
    return this.documents.page(after === undefined ? own : own.startAfter(after), limit, agentFromDocument);
  }

  async leaders(workspace: string, limit: number): Promise<readonly string[]> {
    const { docs } = await this.agents.where('leads', 'array-contains', workspace).limit(limit).get();
    return docs.map((snapshot) => snapshot.id);
  }

  async capabilitiesFrom(workspace: string, prefix: string, limit: number): Promise<readonly string[]> {
    const here = this.database.collection(paths.COLLECTIONS.skills).where('workspace', '==', workspace);
    const named = here.where('name_folded', '>=', prefix).where('name_folded', '<', `${prefix}\uf8ff`);
    const offered = named.where('agents', '>', 0).orderBy('name_folded').orderBy('agents').limit(limit);
    return (await this.documents.all(offered, skillFromDocument)).map(({ name }) => name.toLowerCase());
  }

  /** Returns a query that one index covers, and the fields by which the query is sorted. */
  private indexed({ workspace, availability: kind, type, capabilities: [name] }: AgentQuery): IndexedQuery {
    if (name !== undefined) {
      const capable = capabilityIn(workspace, name);
      return { indexed: this.agents.where('workspace_capabilities', 'array-contains', capable), order: [] };
    }
    if (kind !== undefined) return this.available(workspace, kind);
    const within = this.within(workspace);
    return { indexed: type === undefined ? within : within.where('type', '==', type), order: [] };
  }

  private available(workspace: string, kind: Availability): IndexedQuery {
    const within = this.within(workspace);
    if (kind === 'offline') return { indexed: within.where('status', '==', 'offline'), order: [] };
    const active = within.where('status', '==', 'active');
    if (kind === 'idle' || kind === 'error') {
      const free = active.where('held_count', '==', 0);
      return { indexed: free.where('last_failed', '==', kind === 'error'), order: [] };
    }
    const working =
      kind === 'busy'
        ? active.where('free_slots', '<=', 0)
        : active.where('free_slots', '>', 0).where('held_count', '>', 0);
    return { indexed: working.orderBy('free_slots').orderBy('held_count'), order: AVAILABILITY_ORDER };
  }

  private within(workspace: string): Query {
    return this.agents.where('workspaces', 'array-contains', workspace);
  }
}

/** Estimates the size of a listed agent in bytes: its long fields, plus a constant for the others. */
function shownBytes({ name, type, capability_details: capabilities }: Agent): number {
  return byteLength([name, type, capabilities.map((capability) => capability.name)]) + 500;
}

interface IndexedQuery {
  readonly indexed: Query;
  readonly order: readonly string[];
}

const AVAILABILITY_ORDER = ['free_slots', 'held_count'];

function cursorOf(last: DocumentSnapshot, order: readonly string[]): ListCursor {
  const stored = last.data() ?? {};
  return { order: order.map((field) => Number(stored[field])), id: last.id };
}

function matches(agent: Agent, { workspace, availability: kind, type, capabilities }: AgentQuery): boolean {
  const names = foldedNames(agent);
  return (
    isIn(agent, workspace) &&
    (kind === undefined || availability(agent) === kind) &&
    (type === undefined || agent.type === type) &&
    capabilities.every((name) => names.includes(name))
  );
}

/** Fields that change as a side effect of calls. These changes are not audited. */
const UNAUDITED_FIELDS = ['held', 'last_seen', 'status', 'milestones', 'active_since'];

function auditFieldsOf(agent: Agent): Fields {
  const fields = Object.entries(agentToDocument(agent)).filter(([name]) => !UNAUDITED_FIELDS.includes(name));
  return Object.fromEntries(fields);
}

const ofAgent = effectsOf(({ id, owner_uid }: Agent) => ({ kind: 'agent', id, owner_uid }), auditFieldsOf);

export const agentEffects: EffectsOf<AgentChanges & GrantChanges> = {
  createAgent: ({ agent }) => ofAgent(agent, { after: agent }),
  replaceAgent: ({ agent, before }) => before && ofAgent(agent, { before, after: agent }),
  issueCredential: ({ credential: { api_key, agent_id } }) => ({
    kind: 'connection',
    id: api_key,
    after: { agent_id },
  }),
  withdrawCredential: ({ apiKey }) => ({ kind: 'connection', id: apiKey, before: {} }),
  endGrant: ({ id }) => ({ kind: 'connection', id, before: {} }),
};
