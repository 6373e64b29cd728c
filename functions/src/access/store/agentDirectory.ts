/** How agents of a workspace are listed and counted. Each call reads what it gives and a constant more. */

import { type DocumentSnapshot, FieldPath, type Query } from '@google-cloud/firestore';
import { z } from 'zod';
import { documentCodec } from '../../kernel/documentCodec.ts';
import { AGENT_COUNT_SHARDS, agentCountsPath, COLLECTIONS } from '../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../kernel/firestore/reading.ts';
import { byteLength, MAX_LISTED_BYTES } from '../../kernel/json.ts';
import type { Found, Place, Slice } from '../../kernel/paging.ts';
import { type Agent, type AgentCount, type Availability, agentFromDocument, isIn } from '../rules/agent.ts';
import { availability } from '../rules/liveness.ts';
import type { AgentDirectory, AgentQuery } from '../rules/ports.ts';
import { capabilityIn, foldedNames } from './agents.ts';

/** How many agents are in a workspace: a part of the count. Those without a part were not counted there at first. */
export const { fromDocument: agentCountFromDocument } = documentCodec(
  z.object({
    total: z.int().default(0),
    leaders: z.int().default(0),
    active: z.int().default(0),
    registered: z.int().default(0),
    online: z.int().default(0),
  }),
);

/** Adds up a workspace's counts of agents from the documents that they are spread over. */
export function sumAgents(shards: readonly AgentCount[]): AgentCount {
  const sum = (count: keyof AgentCount): number => shards.reduce((total, shard) => total + shard[count], 0);
  return {
    total: sum('total'),
    leaders: sum('leaders'),
    active: sum('active'),
    registered: sum('registered'),
    online: sum('online'),
  };
}

/** How many agents one call looks at beyond those that it gives, where no index answers the whole query. */
const MAX_PASSED_OVER = 200;

export class FirestoreAgentDirectory extends FirestoreReader implements AgentDirectory {
  async list(query: AgentQuery, limit: number, after: Place | undefined): Promise<Found<Agent>> {
    const { indexed, order } = this.indexed(query);
    const ordered = indexed.orderBy(FieldPath.documentId());
    const continued =
      after?.order.length === order.length ? ordered.startAfter(...after.order, after.id) : ordered;
    const most = limit + MAX_PASSED_OVER;
    const items: Agent[] = [];
    let last: DocumentSnapshot | undefined;
    let looked = 0;
    let bytes = 0;
    const { availability: kind, type, capabilities } = query;
    const filters = capabilities.length + Number(kind !== undefined) + Number(type !== undefined);
    // One filter beside the workspace is answered by an index, which leaves nothing to be passed over.
    const wanted = filters <= 1 ? limit + 1 : most + 1;
    const found = this.documents.first(continued, wanted, agentFromDocument);
    for await (const { value: agent, snapshot } of found) {
      const isMatch = matches(agent, query);
      if (isMatch) bytes += shownBytes(agent);
      const isFull = items.length === limit || looked === most;
      const isLong = isMatch && items.length > 0 && bytes > MAX_LISTED_BYTES;
      if (last !== undefined && (isFull || isLong)) return { items, next: placeOf(last, order) };
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
    const shards = Array.from({ length: AGENT_COUNT_SHARDS }, (_, shard) =>
      this.database.doc(`${agentCountsPath(workspace)}/${shard}`),
    );
    const snapshots = await this.database.getAll(...shards);
    return sumAgents(
      snapshots.flatMap((snapshot) => this.documents.readable(snapshot, agentCountFromDocument)),
    );
  }

  live(workspace: string, limit: number): Promise<Slice<Agent>> {
    const live = this.within(workspace).where('status', '==', 'active');
    return this.documents.page(live, limit, agentFromDocument);
  }

  ofOwner(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<Agent>> {
    const own = this.agents.where('owner_uid', '==', ownerUid).orderBy(FieldPath.documentId());
    return this.documents.page(after === undefined ? own : own.startAfter(after), limit, agentFromDocument);
  }

  async leaders(workspace: string, limit: number): Promise<readonly string[]> {
    const { docs } = await this.agents.where('leads', 'array-contains', workspace).limit(limit).get();
    return docs.map((snapshot) => snapshot.id);
  }

  /** A query that one index answers, and the fields by which it is ordered. */
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
    return { indexed: working.orderBy('free_slots').orderBy('held_count'), order: WORKING_ORDER };
  }

  private within(workspace: string): Query {
    return this.agents.where('workspaces', 'array-contains', workspace);
  }

  private get agents(): Query {
    return this.database.collection(COLLECTIONS.agents);
  }
}

/** The bytes of an agent in the list: of its long parts, and room for the rest. */
function shownBytes({ name, type, capability_details: capabilities }: Agent): number {
  return byteLength([name, type, capabilities.map((capability) => capability.name)]) + 500;
}

interface IndexedQuery {
  readonly indexed: Query;
  readonly order: readonly string[];
}

const WORKING_ORDER = ['free_slots', 'held_count'];

/** By what is stored, as the query goes by it. */
function placeOf(last: DocumentSnapshot, order: readonly string[]): Place {
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
