/** Saved workflows and the measures of agents as Firestore keeps them. */

import { z } from 'zod';
import type { Versioned } from '../../../kernel/commit.ts';
import { documentCodec, timestamp } from '../../../kernel/firestore/codec.ts';
import {
  agentMeasurePath,
  COLLECTIONS,
  MEASURE_SHARDS,
  workflowPath,
} from '../../../kernel/firestore/paths.ts';
import { FirestoreReader } from '../../../kernel/firestore/reading.ts';
import { type ChangeWriters, increments } from '../../../kernel/firestore/store.ts';
import { fieldsCodec } from '../../../kernel/firestore/trail.ts';
import type { Slice } from '../../../kernel/paging.ts';
import type { MeasureChanges } from '../rules/agents/profile.ts';
import type { Workflow, WorkflowChanges } from '../rules/workflows/definition.ts';
import { readWorkflow } from '../rules/workflows/validation.ts';

/** A workflow as JSON: nothing queries what is in it. */
export const workflowText = z.codec(z.string(), z.custom<Workflow>(), {
  decode: (text) => readWorkflow(text, 'workflow'),
  encode: (workflow) => JSON.stringify(workflow),
});

/** A workflow that somebody has saved: `workflows/{id}`, which has its name besides. */
export const { toDocument: workflowToDocument, fromDocument: workflowFromDocument } = documentCodec(
  z.object({
    /** Derived from its owner and its name. */
    id: z.string(),
    owner_uid: z.string(),
    definition: workflowText,
    /** 1, and one more with each change. */
    version: z.int(),
    created_at: timestamp,
    updated_at: timestamp,
  }),
  { definition: 'workflow' },
);

export type SavedWorkflow = ReturnType<typeof workflowFromDocument>;

/** Workflows as the trail tells of them. */
export const workflowFields = fieldsCodec<SavedWorkflow>(workflowToDocument, workflowFromDocument);

function namedDocument(saved: SavedWorkflow): Record<string, unknown> {
  return { ...workflowToDocument(saved), name: saved.workflow.name };
}

export class WorkflowQueries extends FirestoreReader {
  async find(id: string): Promise<Versioned<SavedWorkflow> | undefined> {
    const snapshot = await this.database.doc(workflowPath(id)).get();
    return this.documents.findVersioned(snapshot, workflowFromDocument);
  }

  /** An owner's, by name. */
  list(ownerUid: string, limit: number, after: string | undefined): Promise<Slice<SavedWorkflow>> {
    const owned = this.database
      .collection(COLLECTIONS.workflows)
      .where('owner_uid', '==', ownerUid)
      .orderBy('name');
    const page = after === undefined ? owned : owned.startAfter(after);
    return this.documents.page(page, limit, workflowFromDocument);
  }
}

export const workflowWriters: ChangeWriters<WorkflowChanges> = {
  createWorkflow({ saved }, writes) {
    writes.create(workflowPath(saved.id), namedDocument(saved));
  },
  replaceWorkflow({ saved, version }, writes) {
    writes.replace(workflowPath(saved.id), namedDocument(saved), version);
  },
  deleteWorkflow({ saved: { id }, version }, writes) {
    writes.deleteAt(workflowPath(id), version);
  },
};

/** What has been measured of a hosted agent: counters, spread over several documents, each of which is such a one. */
const counters = z.object({
  agent: z.string(),
  /** Requests that were made and have ended by themselves. */
  requests: z.number(),
  answered: z.number(),
  /** That the answered ones took. */
  milliseconds: z.number(),
});

export type AgentMeasure = Readonly<z.output<typeof counters>>;

/** What one shard has of an agent. */
export function measureFromDocument(data: unknown): AgentMeasure {
  return counters.parse(data);
}

export const measureWriters: ChangeWriters<MeasureChanges> = {
  measureAgent({ measure: { agent, ...counted } }, writes) {
    const shard = agentMeasurePath(`${agent}-${writes.randomness.integer(MEASURE_SHARDS)}`);
    writes.merge(shard, { agent, ...increments(counted) });
  },
};

export class AgentMeasures extends FirestoreReader {
  /** Those of the agents that have been measured. */
  async read(agents: readonly string[]): Promise<ReadonlyMap<string, AgentMeasure>> {
    const shards = agents.flatMap((agent) =>
      Array.from({ length: MEASURE_SHARDS }, (_, shard) =>
        this.database.doc(agentMeasurePath(`${agent}-${shard}`)),
      ),
    );
    const measures = new Map<string, AgentMeasure>();
    if (shards.length === 0) return measures;
    for (const snapshot of await this.database.getAll(...shards)) {
      for (const { agent, ...counted } of this.documents.readable(snapshot, measureFromDocument)) {
        const before = measures.get(agent) ?? { requests: 0, answered: 0, milliseconds: 0 };
        measures.set(agent, {
          agent,
          requests: before.requests + counted.requests,
          answered: before.answered + counted.answered,
          milliseconds: before.milliseconds + counted.milliseconds,
        });
      }
    }
    return measures;
  }
}
