/** Agents, their credentials and what they can do, as Firestore keeps them. */

import { FieldPath, FieldValue, type Query } from '@google-cloud/firestore';
import type { Versioned } from '../../kernel/commit.ts';
import {
  AGENT_COUNT_SHARDS,
  agentCountsPath,
  agentPath,
  COLLECTIONS,
  credentialPath,
  grantPath,
  mailboxPath,
  skillPath,
} from '../../kernel/firestore/paths.ts';
import { atVersion } from '../../kernel/firestore/provenCommit.ts';
import { FirestoreReader, readDue } from '../../kernel/firestore/reading.ts';
import { type ChangeWriters, increments } from '../../kernel/firestore/store.ts';
import type { Batch, Position } from '../../kernel/paging.ts';
import { folded, prefixesOf } from '../../kernel/words.ts';
import {
  type Agent,
  type AgentChanges,
  agentCodec,
  agentFromDocument,
  type ClosedWork,
  foldedCapability,
  partIn,
  skillFromDocument,
  skillToDocument,
  workspacesOf,
} from '../rules/agent.ts';
import {
  type Credential,
  type CredentialChanges,
  credentialCodec,
  credentialFromDocument,
  type Link,
} from '../rules/credential.ts';
import { type Grant, type GrantChanges, grantFromDocument, grantToDocument } from '../rules/grant.ts';
import type { AgentQueries, CredentialQueries, GrantQueries } from '../rules/ports.ts';
import { announceAccess, announceAgent } from './accessChanges.ts';

/** The ids of the agents of a lineage, by which what was made through an agent is found. */
export function registrantsIn(links: readonly Link[] | undefined): { readonly registrants?: string[] } {
  return links ? { registrants: [...new Set(links.map(({ agent_id }) => agent_id))] } : {};
}

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
    const found = new Set(first.map(({ api_key }) => api_key));
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
    writes.create(credentialPath(credential.api_key), credentialToDocument(credential));
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

export class FirestoreAgentQueries extends FirestoreCredentialQueries implements AgentQueries {
  async find(agentId: string): Promise<Versioned<Agent> | undefined> {
    return this.documents.findVersioned(await this.database.doc(agentPath(agentId)).get(), agentFromDocument);
  }

  async findAll(agentIds: readonly string[]): Promise<readonly Versioned<Agent>[]> {
    if (agentIds.length === 0) return [];
    const found = await this.database.getAll(...agentIds.map((id) => this.database.doc(agentPath(id))));
    return found.flatMap((snapshot) => this.documents.findVersioned(snapshot, agentFromDocument) ?? []);
  }

  terminalsGone(before: Date, limit: number, after?: Position): Promise<Batch<Versioned<Agent>>> {
    const offline = this.database.collection(COLLECTIONS.agents).where('status', '==', 'offline');
    return readDue(offline, 'last_seen', { now: before, limit, after }, (snapshot) =>
      this.documents
        .readableVersioned(snapshot, agentFromDocument)
        .filter(({ value }) => value.registered_by !== undefined),
    );
  }

  async skillCounts(
    ids: readonly string[],
  ): Promise<readonly Versioned<{ readonly id: string; readonly agents: number }>[]> {
    if (ids.length === 0) return [];
    const found = await this.database.getAll(...ids.map((id) => this.database.doc(skillPath(id))));
    return found.flatMap((snapshot) => this.documents.readableVersioned(snapshot, skillFromDocument));
  }

  async findWithAgent(apiKey: string): Promise<{ credential: Credential; agent: Agent } | undefined> {
    const snapshot = await this.database.doc(credentialPath(apiKey)).get();
    const credential = this.documents.find(snapshot, credentialFromDocument);
    if (credential === undefined) return undefined;
    const agent = await this.find(credential.agent_id);
    return agent && { credential, agent: agent.value };
  }
}

export const agentWriters: ChangeWriters<AgentChanges> = {
  ...credentialWriters,
  createAgent({ agent }, writes) {
    writes.create(agentPath(agent.id), agentToDocument(agent));
  },
  replaceAgent({ agent, before, version }, writes) {
    writes.replace(agentPath(agent.id), agentToDocument(agent), version);
    announceAgent(writes, before, agent);
  },
  holdTask({ agent, taskId, version }, writes) {
    const { status, last_seen, active_since, milestones, held_count, free_slots } = agentToDocument(agent);
    const fields = { status, last_seen, active_since, milestones, held_count, free_slots };
    const task = agent.held[taskId];
    const held = task && { session: task.session, claim_epoch: task.claim_epoch };
    const pairs = [new FieldPath('held', taskId), held, ...Object.entries(fields).flat()] as const;
    writes.batch.update(writes.document(agentPath(agent.id), version), ...pairs, atVersion(version));
  },
  dropTask({ agentId, taskId, wasHeld, closed }, writes) {
    // Nobody has read the agent: counters go on from their stored values.
    const fields = {
      ...(wasHeld && increments({ held_count: -1, free_slots: 1 })),
      ...(closed && closedFields(closed)),
    };
    writes.updateIfThere(agentPath(agentId), [
      [new FieldPath('held', taskId), FieldValue.delete()],
      ...Object.entries(fields),
    ]);
  },
  noteMessages({ agentId, has_messages }, writes) {
    writes.updateIfThere(agentPath(agentId), [['has_messages', has_messages]]);
    announceAccess(writes, `agent:${agentId}`);
  },
  countAgents({ workspace, by }, writes) {
    const shard = `${agentCountsPath(workspace)}/${writes.randomness.integer(AGENT_COUNT_SHARDS)}`;
    writes.merge(shard, increments({ ...by }));
  },
  offerSkill({ skill, agents }, writes) {
    writes.merge(skillPath(skill.id), {
      ...skillToDocument({ ...skill, agents }),
      ...increments({ agents }),
      ...skillIndex(skill),
    });
  },
  withdrawSkill({ id }, writes) {
    writes.merge(skillPath(id), increments({ agents: -1 }));
  },
  removeAgent({ agent: { id }, version }, writes) {
    writes.deleteAt(agentPath(id), version);
    writes.delete(mailboxPath(id));
    announceAccess(writes, `agent:${id}`);
  },
  removeSkill({ id, version }, writes) {
    writes.deleteAt(skillPath(id), version);
  },
};

/** Returns the fields by which skills are searched and ordered. */
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

/** With what queries and people go by, and nothing reads: `free_slots` is below 0 where it holds more than it may at once. */
export function agentToDocument(agent: Agent): Record<string, unknown> {
  const heldCount = Object.keys(agent.held).length;
  return {
    ...agentCodec.toDocument(agent),
    // Names only, as the network specification's firebase.read example shows them.
    capabilities: agent.capability_details.map(({ name }) => name),
    capability_names: foldedNames(agent),
    workspaces: workspacesOf(agent),
    workspace_capabilities: workspacesOf(agent).flatMap((workspace) =>
      foldedNames(agent).map((name) => capabilityIn(workspace, name)),
    ),
    leads: workspacesOf(agent).filter((workspace) => partIn(agent, workspace) === 'leader'),
    held_count: heldCount,
    free_slots: agent.configuration.max_concurrent_tasks - heldCount,
  };
}

/** By capability in a workspace: a query asks for one thing that an array contains. No workspace's name has a "|". */
export function capabilityIn(workspace: string, foldedName: string): string {
  return `${workspace}|${foldedName}`;
}

/** The capabilities' names, without regard to case. */
export function foldedNames({ capability_details: capabilities }: Agent): readonly string[] {
  return [...new Set(capabilities.map(({ name }) => foldedCapability(name)))];
}

/** Grants, as Firestore keeps them. */

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
